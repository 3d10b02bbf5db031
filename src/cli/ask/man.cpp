// `slackline man`: the manual pages, made of the help texts.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/version.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

// Text in the language of man(7): a backslash and a point at the beginning of a line mean
// something.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string names_of_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_name(/*positional=*/true));
  std::string text = join(names, ", ");
  if (option.get_type_size() > 0 && !option.get_positional() && !option.get_type_name().empty())
    text += " " + option.get_type_name();
  return text;
}

std::string options_of(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options())
    out += format(
        ".TP\n\\fB{}\\fR\n{}{}\n", roff(names_of_option(*option)), roff(option->get_description()),
        option->get_default_str().empty() ? std::string()
                                          : roff(format(" [{}]", option->get_default_str())));
  return out;
}

std::string command_page(const CLI::App& command) {
  const std::string name = "slackline-" + command.get_name();
  std::string page = format(
      ".TH {} 1 \"\" \"slackline {}\" \"Slackline\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B "
      "slackline "
      "{}\n[options]\n",
      to_lower(name), kVersion, roff(name), roff(command.get_description()), command.get_name());
  page += ".SH OPTIONS\n" + options_of(command);
  if (!command.get_footer().empty())
    page += format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(command.get_footer()));
  return page + ".SH SEE ALSO\n.BR slackline (1)\n";
}

std::string main_page(const CLI::App& app) {
  std::string page = format(
      ".TH slackline 1 \"\" \"slackline {}\" \"Slackline\"\n.SH NAME\nslackline \\- {}\n.SH "
      "SYNOPSIS\n.B slackline\n.I command\n[options]\n.SH COMMANDS\n",
      kVersion, roff(app.get_description()));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    page += format(".TP\n.BR slackline\\-{} (1)\n{}\n", command->get_name(),
                   roff(command->get_description()));
  return page + format(".SH EXIT STATUS\n{}\n", roff(app.get_footer()));
}

}  // namespace

void add_man(CLI::App& app, int& exit_code) {
  const auto name = std::make_shared<std::string>();
  CLI::App* man = app.add_subcommand(
      "man", "Print the manual page of slackline or of one command, for `man -l -`");
  man->add_option("command", *name, "One of the commands; none: of slackline itself");
  man->footer("Example:\n  slackline man quote | man -l -");
  man->callback([&app, &exit_code, name] {
    exit_code = 0;
    if (name->empty()) {
      std::fputs(main_page(app).c_str(), stdout);
      return;
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_name() != *name) continue;
      std::fputs(command_page(*command).c_str(), stdout);
      return;
    }
    throw CLI::ValidationError("command",
                               format("there is no command \"{}\"", printable(*name, 64)));
  });
}

}  // namespace slackline::cli
