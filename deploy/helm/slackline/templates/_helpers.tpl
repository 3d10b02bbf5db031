{{/* The image of the daemon and of `slackline release`. */}}
{{- define "slackline.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Versions of EKS, GKE and k3s end in what registry.k8s.io has no image of, and no tag may have a plus. Elsewhere, as in EKS
Distro, images may be called so. */}}
{{- define "slackline.schedulerImage" -}}
{{- with .Values.kubeScheduler -}}
{{- $tag := required "kubeScheduler.tag is missing: name the cluster's own version (kubectl version), for instance --set kubeScheduler.tag=v1.36.3" .tag }}
{{- $suffix := ternary "(-eks-|-gke\\.|\\+).*$" "\\+.*$" (hasPrefix "registry.k8s.io/" .repository) -}}
{{ .repository }}:{{ regexReplaceAll $suffix $tag "" }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* What all pods say about where they run. */}}
{{- define "slackline.placement" -}}
{{- with .Values.priorityClassName -}}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* OpenShift gives every namespace users of its own: no numbers there. */}}
{{- define "slackline.podSecurity" -}}
runAsNonRoot: true
{{- if not .Values.openshift }}
runAsUser: 65532
runAsGroup: 65532
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* `helm uninstall` leaves gpu-scheduler: without it, pods that name it would wait for ever. */}}
{{- define "slackline.kept" -}}
{helm.sh/resource-policy: keep}
{{- end }}

{{/* In Slackline's pods it ends with them, and nothing of it is left. */}}
{{- define "slackline.keptBeside" }}
{{- if eq .Values.kubeScheduler.form "beside" }}
  annotations: {{ include "slackline.kept" . }}
{{- end }}
{{- end }}

{{/* Where gpu-scheduler's pods and account are. */}}
{{- define "slackline.schedulerNamespace" -}}
{{ ternary .Release.Namespace "kube-system" (eq .Values.kubeScheduler.form "pod") }}
{{- end }}

{{/* `slackline release` reads the configuration where it may differ from the defaults, and where it says whose certificates the
Secrets hold. */}}
{{- define "slackline.releaseReads" -}}
{{- if or .Values.config (ne .Release.Namespace "slackline-system") (ne .Values.certificates.source "self") }}yes{{ end }}
{{- end }}

{{/* What `helm uninstall` does first, in this order. */}}
{{- define "slackline.removeHook" -}}
{helm.sh/hook: pre-delete, helm.sh/hook-weight: "{{ . }}", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
{{- end }}

{{/* A Secret that Slackline fills, and has no right to create. Without `type` it is Opaque, and one that an older version
made keeps its type, which nobody can change. */}}
{{- define "slackline.ownSecret" -}}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    app.kubernetes.io/name: slackline
{{- end }}

{{/* The listeners whose certificates come from Secrets. */}}
{{- define "slackline.tlsListeners" -}}
{{- if ne .Values.certificates.source "self" }}webhook api{{ if ne .Values.kubeScheduler.form "pod" }} extender{{ end }}{{ end }}
{{- end }}

{{/* The Secret with the certificate of a listener, or of kube-scheduler (client). */}}
{{- define "slackline.tlsSecret" -}}
{{- $own := printf "slackline-%s" (ternary "extender-client" (printf "%s-tls" .listener) (eq .listener "client")) }}
{{- if eq .root.Values.certificates.source "given" -}}
{{- $given := get .root.Values.certificates.given .listener }}
{{- required (printf "certificates.given.%s is missing: name the Secret with its certificate" .listener) $given }}
{{- else -}}
{{ $own }}
{{- end }}
{{- end }}

{{/* The authority by which the API server knows the webhook; Slackline or cert-manager fills it in unless it is given. */}}
{{- define "slackline.caBundle" -}}
{{- if eq .Values.certificates.source "given" }}
      caBundle: {{ required "certificates.given.caBundle is missing: write the authority of the webhook's certificate, as base64 of PEM" .Values.certificates.given.caBundle }}
{{- end }}
{{- end }}

{{- define "slackline.ownConfiguration" -}}
apiVersion: config.slackline.dev/v1alpha1
kind: SlacklineConfiguration
mode: {{ .Values.mode }}
listeners:
  extender: {address: "{{ if eq .Values.kubeScheduler.form "pod" }}127.0.0.1{{ end }}:8181"}
  webhook: {address: ":{{ .Values.webhook.port }}"}
  metrics: {address: ":8182"}
  {{- if .Values.visibility.enabled }}
  {{- if eq (int .Values.visibility.port) (int .Values.webhook.port) }}
  {{- fail "visibility.port is webhook.port: give each a port of its own" }}
  {{- end }}
  visibility: {address: ":{{ .Values.visibility.port }}"}
  {{- end }}
  remoteApi: {address: ":8183"}
planner: {giveBack: true}
{{- if eq .Values.kubeScheduler.form "pod" }}
extender: {schedulerLease: kube-system/gpu-scheduler}
{{- end }}
calibration: {priorityClass: slackline-calibration}
store:
  path: /var/lib/slackline/slackline.db
  copyFrom: # a replica with an empty disk takes what the other one knows
    url: https://slackline-api.{{ .Release.Namespace }}.svc
    tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
    caFile: /etc/slackline-api/ca.crt
{{- end }}

{{- define "slackline.tlsConfiguration" -}}
listeners:
  {{- range $folder := include "slackline.tlsListeners" . | splitList " " }}
  {{- $key := ternary "remoteApi" $folder (eq $folder "api") }}
  {{ $key }}:
    tls:
      certFile: /etc/slackline-tls/{{ $folder }}/tls.crt
      keyFile: /etc/slackline-tls/{{ $folder }}/tls.key
      {{- if eq $key "extender" }}
      clientCAFile: /etc/slackline-tls/extender/ca.crt
      clientNames: ["system:kube-scheduler"]
      {{- end }}
  {{- end }}
store: # Slackline writes no authority into slackline-api-ca here
  copyFrom: {caFile: /etc/slackline-tls/api/ca.crt}
{{- end }}

{{/* The defaults name slackline-system. */}}
{{- define "slackline.namespaceConfiguration" -}}
{{- $ns := .Release.Namespace -}}
{{- if ne .Values.kubeScheduler.form "pod" }}
extender:
  certificate: {names: [slackline.{{ $ns }}.svc], secret: {{ $ns }}/slackline-extender-tls}
{{- end }}
remoteApi:
  certificate:
    names: [slackline-api.{{ $ns }}.svc, slackline-api.{{ $ns }}, localhost]
    secret: {{ $ns }}/slackline-api-tls
  trust: {{ $ns }}/slackline-api-ca
  url: https://slackline-api.{{ $ns }}.svc
webhook:
  serviceAccount: {{ $ns }}/slackline
  certificate: {names: [slackline-webhook.{{ $ns }}.svc], secret: {{ $ns }}/slackline-webhook-tls}
trust: {keySecret: {{ $ns }}/slackline-plan-key}
planner: {lease: {{ $ns }}/slackline}
{{- end }}

{{/* slackline.yaml */}}
{{- define "slackline.configuration" -}}
{{- $config := fromYaml (include "slackline.ownConfiguration" .) }}
{{- if ne .Release.Namespace "slackline-system" }}
{{- $config = mergeOverwrite $config (fromYaml (include "slackline.namespaceConfiguration" .)) }}
{{- end }}
{{- if ne .Values.certificates.source "self" }}
{{- $config = mergeOverwrite $config (fromYaml (include "slackline.tlsConfiguration" .)) }}
{{- end -}}
# The keys that differ from the defaults; deploy/slackline.yaml documents every key. After a change:
#   kubectl -n {{ .Release.Namespace }} rollout restart statefulset/slackline
# The mode shadow changes nothing; advise filters, scores and warns; active queues and releases Jobs too.
# planner.giveBack: in another mode than active, release the Jobs and pods that active mode has left waiting
# planner.policy: savable would stop no running Job for others; the policy `default` does, within a budget
# Listeners off loopback use TLS, with certificates that Slackline makes unless others are named.
{{ mergeOverwrite $config (deepCopy .Values.config) | toYaml }}
{{- end }}

{{/* The resources that Slackline alone counts (selfAccounted), by spaces. */}}
{{- define "slackline.shares" -}}
{{- $shares := list }}
{{- range dig "gpus" "resources" list .Values.config }}
{{- if .selfAccounted }}{{ $shares = append $shares .name }}{{ end }}
{{- end }}
{{- if and $shares (eq .Values.kubeScheduler.form "beside") }}
{{- fail "config.gpus.resources: selfAccounted needs kubeScheduler.form pod: beside, two replicas would answer one kube-scheduler" }}
{{- end }}
{{- join " " $shares }}
{{- end }}

{{/* kube-scheduler's own configuration. */}}
{{- define "slackline.schedulerConfiguration" -}}
{{- $inPod := eq .Values.kubeScheduler.form "pod" -}}
{{- $shares := include "slackline.shares" . | splitList " " | compact -}}
# deploy/kube-scheduler/gpu-scheduler.yaml, as it is in {{ ternary "Slackline's pods" "its own pods" $inPod }}.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: # no kubeconfig: its own ServiceAccount{{ if $inPod }}, by the Secret gpu-scheduler-token{{ end }}
  qps: 200
  burst: 400
leaderElection:
  leaderElect: true
  resourceName: gpu-scheduler # a Lease of its own, not the default scheduler's
  resourceNamespace: kube-system
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
percentageOfNodesToScore: 100 # otherwise kube-scheduler samples large clusters and may miss the best node
profiles:
  - schedulerName: gpu-scheduler
extenders:
  {{- if $inPod }}
  - urlPrefix: http://127.0.0.1:8181/v1/extender # Slackline's container, next to it
  {{- else }}
  - urlPrefix: https://slackline.{{ .Release.Namespace }}.svc:8181/v1/extender
  {{- end }}
    filterVerb: filter
    prioritizeVerb: prioritize
    preemptVerb: preempt
    bindVerb: bind
    weight: 12 # the in-tree scores sum to about 12 weights; Slackline's must be able to outvote them
    {{- if not $inPod }}
    enableHTTPS: true
    tlsConfig:
      # Without a CA kube-scheduler verifies nothing. This one is the ConfigMap slackline-extender-ca.
      caFile: /etc/slackline/ca/ca.crt
      # kube-scheduler's own certificate, from the Secret slackline-extender-client. It does not start without both
      # files, and reads them again for every new connection.
      certFile: /etc/slackline/client/tls.crt
      keyFile: /etc/slackline/client/tls.key
      serverName: slackline.{{ .Release.Namespace }}.svc # needed even if urlPrefix is the Service's IP address
    {{- end }}
    httpTimeout: 2s
    nodeCacheCapable: true # with false, 1.34 to 1.37 score every node as if it were empty
    {{- if $shares }}
    ignorable: false # without Slackline nobody counts the shares below
    {{- else }}
    ignorable: true # without Slackline, GPU pods schedule as they do today
    {{- end }}
    managedResources:
      {{- range without .Values.kubeScheduler.managedResources $shares }}
      - name: {{ . }}
        ignoredByScheduler: false # kube-scheduler itself still counts whole GPUs
      {{- end }}
      {{- range $shares }}
      - name: {{ . }}
        ignoredByScheduler: true # Slackline counts it alone
      {{- end }}
{{- end }}

{{- define "slackline.issuer" -}}
kind: {{ .Values.certificates.issuer.kind }}
name: {{ required "certificates.issuer.name is missing: name the issuer whose authority signs the certificates" .Values.certificates.issuer.name }}
{{- end }}
