module sdk-go-tests

go 1.24.0

require github.com/simway/simway/packages/sdk-go v0.0.0

require (
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1 // indirect
	golang.org/x/text v0.34.0 // indirect
)

replace github.com/simway/simway/packages/sdk-go => ../../packages/sdk-go
