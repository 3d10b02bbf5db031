// What scripts/fetch-crds takes the definitions of the gangs' kinds and of Kueue's from. Nothing of it is compiled.
module slackline.dev/crds

go 1.26.0

require (
	github.com/kubeflow/mpi-operator v0.6.0
	github.com/kubeflow/trainer/v2 v2.3.0
	github.com/kubeflow/training-operator v1.8.1
	github.com/ray-project/kuberay/ray-operator v1.5.0
	sigs.k8s.io/jobset v0.10.1
	sigs.k8s.io/kueue v0.19.2
	sigs.k8s.io/lws v0.8.0
)
