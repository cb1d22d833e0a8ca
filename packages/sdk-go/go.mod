module github.com/simway/simway/packages/sdk-go

go 1.24.0

require (
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
	golang.org/x/text v0.34.0
)
