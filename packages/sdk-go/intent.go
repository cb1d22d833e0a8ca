package simway

import (
	"crypto/rand"
	"encoding/json"
)

// Intent is one intended POST, as JSON the same as in the SDK for TypeScript. However often it is sent within 30
// days, by keys of one account and environment, it is carried out once. Store it before Send, so that it survives
// a crash. Answer is what Send returns.
type Intent[Answer any] struct {
	URL string `json:"url"`
	// Key is the Idempotency-Key, 1 to 255 printable characters: a new random one, or set it to your order's number.
	Key  string            `json:"key"`
	Path map[string]string `json:"path,omitempty"`
	Body json.RawMessage   `json:"body,omitempty"`
}

func intend[Answer any](url string, path map[string]string, body any) (intent Intent[Answer], err error) {
	intent = Intent[Answer]{URL: url, Key: rand.Text(), Path: path}
	if body != nil {
		intent.Body, err = json.Marshal(body)
	}
	return intent, err
}
