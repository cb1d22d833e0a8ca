{{- define "simway.labels" -}}
app.kubernetes.io/name: simway
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .worker }}
simway/worker: {{ . }}
{{- end }}
{{- end }}

{{- define "simway.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What every process reads: where Temporal and Postgres are. */}}
{{- define "simway.servers" -}}
- { name: SIMWAY_DATABASE_TLS, value: {{ .Values.database.tls | quote }} }
{{- if .Values.database.caSecret }}
- { name: SIMWAY_DATABASE_CA_FILE, value: /run/secrets/database-ca/ca.crt }
{{- end }}
- { name: TEMPORAL_ADDRESS, value: {{ .Values.temporal.address | quote }} }
- { name: SIMWAY_TEMPORAL_TLS, value: {{ ternary "on" "off" .Values.temporal.tls | quote }} }
{{- with .Values.temporal.serverName }}
- { name: SIMWAY_TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }} }
{{- end }}
{{- if .Values.temporal.caSecret }}
- { name: SIMWAY_TEMPORAL_TLS_CA_FILE, value: /run/secrets/temporal-ca/ca.crt }
{{- end }}
{{- if .Values.temporal.certSecret }}
- { name: SIMWAY_TEMPORAL_TLS_CERT_FILE, value: /run/secrets/temporal-cert/tls.crt }
- { name: SIMWAY_TEMPORAL_TLS_KEY_FILE, value: /run/secrets/temporal-cert/tls.key }
{{- end }}
{{- end }}

{{- /* The API and the workers have the same settings. */}}
{{- define "simway.env" -}}
- { name: DATABASE_URL, value: {{ .Values.database.url | quote }} }
{{ include "simway.servers" . }}
- { name: REDIS_URL, value: {{ .Values.redis.url | quote }} }
# The ports are reached from other machines.
- { name: SIMWAY_HTTP_HOST, value: 0.0.0.0 }
- { name: SIMWAY_ADMIN_HOST, value: 0.0.0.0 }
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range .Values.secrets.keys }}
- { name: {{ . }}_FILE, value: /run/secrets/simway/{{ . }} }
{{- end }}
{{- end }}

{{- /* Files of Secrets. Only their owner and the group of the process read them. */}}
{{- define "simway.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/secrets/simway, readOnly: true }
{{- if .Values.database.caSecret }}
- { name: database-ca, mountPath: /run/secrets/database-ca, readOnly: true }
{{- end }}
{{- if .Values.temporal.caSecret }}
- { name: temporal-ca, mountPath: /run/secrets/temporal-ca, readOnly: true }
{{- end }}
{{- if .Values.temporal.certSecret }}
- { name: temporal-cert, mountPath: /run/secrets/temporal-cert, readOnly: true }
{{- end }}
{{- end }}

{{- define "simway.volumes" -}}
- { name: tmp, emptyDir: {} }
{{- with .Values.database.caSecret }}
- { name: database-ca, secret: { secretName: {{ . }}, defaultMode: 0440 } }
{{- end }}
{{- with .Values.temporal.caSecret }}
- { name: temporal-ca, secret: { secretName: {{ . }}, defaultMode: 0440 } }
{{- end }}
{{- with .Values.temporal.certSecret }}
- { name: temporal-cert, secret: { secretName: {{ . }}, defaultMode: 0440 } }
{{- end }}
{{- end }}

{{- define "simway.secrets" -}}
- name: secrets
  secret:
    secretName: {{ .Values.secrets.existingSecret }}
    defaultMode: 0440
    # A key that is missing keeps the pod from starting.
    items: {{- range .Values.secrets.keys }}
      - { key: {{ . }}, path: {{ . }} }
    {{- end }}
{{- end }}

{{- /* The image's user is node, 1000. Nothing of ours talks to Kubernetes. */}}
{{- define "simway.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "simway.container" -}}
image: {{ include "simway.image" . | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- /* On different nodes, and in different zones where there are some. */}}
{{- define "simway.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels: {{- include "simway.labels" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{- /* Evictions take one at a time, and do not wait for a pod that is not ready anyway. */}}
{{- define "simway.budget" -}}
maxUnavailable: 1
unhealthyPodEvictionPolicy: AlwaysAllow
selector:
  matchLabels: {{- include "simway.labels" . | nindent 4 }}
{{- end }}

{{- define "simway.alive" -}}
httpGet: { path: /healthz, port: admin }
timeoutSeconds: 5
{{- end }}

{{- define "simway.ready" -}}
httpGet: { path: /readyz, port: admin }
# Its checks take 3 s at most.
timeoutSeconds: 5
{{- end }}
