# Build: docker build -t slackline:0.1.0 .
#        For production pin the base of the day: --build-arg BASE=debian:12-slim@sha256:DIGEST (decision 0024).
# Run:   docker run --read-only -v slackline:/var/lib/slackline slackline:0.1.0 serve
# In a cluster deploy/base runs it; `kubectl exec POD -- slackline queue` asks it.
ARG BASE=debian:12-slim
FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN scripts/setup build
RUN scripts/build release && strip build/release/slackline

FROM ${BASE}
COPY --from=build /src/scripts/setup /tmp/setup
RUN apt-get update -q && /tmp/setup runtime && rm -rf /tmp/setup /var/lib/apt/lists/* \
  && useradd --uid 65532 --no-create-home --shell /usr/sbin/nologin slackline \
  && install -d -o 65532 -g 65532 /var/lib/slackline
COPY --from=build /src/build/release/slackline /usr/local/bin/slackline
USER 65532:65532
# The root file system may be read-only: only history and Slackline's own certificates are written, next to the store.
VOLUME /var/lib/slackline
EXPOSE 8180 8181 8182 8443
ENTRYPOINT ["/usr/local/bin/slackline"]
CMD ["serve", "--store", "/var/lib/slackline/slackline.db"]
