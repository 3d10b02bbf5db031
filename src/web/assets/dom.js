// Makes and updates elements. Text is only ever text: nothing here parses HTML, so that a name or an
// annotation from the cluster cannot become markup.

const HANDLERS = ['onclick', 'oninput', 'onchange', 'onsubmit'];

// h('a', {href: '#/queue', onclick: f, style: {left: '4px'}}, 'text', [more])
export function h(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) made[key] = value;
    // The policy forbids style attributes in markup, not properties that a script sets.
    else if (key === 'style') for (const [property, v] of Object.entries(value)) made.style.setProperty(property, v);
    else made.setAttribute(key, value === true ? '' : value);
  }
  add(made, children);
  return made;
}

function add(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === '') continue;
    if (Array.isArray(child)) add(parent, child);
    else parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

const keyOf = (node) => (node.dataset ? node.dataset.key : undefined);

// Makes `old` look like `fresh`, changing only what differs: focus, selection and scrolling stay.
export function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || keyOf(old) !== keyOf(fresh)) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes])
    if (name !== 'style' && name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name); // <details> that a reader has opened
  for (const { name, value } of fresh.attributes)
    if (name !== 'style' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
  for (const handler of HANDLERS) if (old[handler] !== fresh[handler]) old[handler] = fresh[handler];
  if (old.nodeName === 'INPUT') {
    if (old !== document.activeElement && old.value !== fresh.value) old.value = fresh.value;
    return;
  }
  fill(old, [...fresh.childNodes]);
}

// Makes `wanted` the children of `parent`.
export function fill(parent, wanted) {
  const keyed = new Map();
  for (const child of parent.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  let at = parent.firstChild;
  for (const want of wanted) {
    const key = keyOf(want);
    let have = key ? keyed.get(key) : at;
    if (!have || (!key && keyOf(have)) || have.nodeName !== want.nodeName) {
      parent.insertBefore(want, at);
      continue;
    }
    if (have === at) at = at.nextSibling;
    else parent.insertBefore(have, at);
    morph(have, want);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}
