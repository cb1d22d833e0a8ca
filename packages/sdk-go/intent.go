package simway

import (
	"crypto/rand"
	"encoding/json"
	"time"
)

// sendable leaves a day of the 30 for which Simway knows an Idempotency-Key, for clocks that differ.
const sendable = 29 * 24 * time.Hour

// Intent is one intended POST, as JSON the same as in the SDK for TypeScript. However often it is sent, by
// keys of one account and environment, it is carried out once. After 29 days it is refused, because Simway
// forgets its key after 30. Store it before Send, so that it survives a crash. Answer is what Send returns.
type Intent[Answer any] struct {
	URL string `json:"url"`
	// Key is the Idempotency-Key, 1 to 255 printable ASCII characters: a new random one, or set it to your
	// order's number.
	Key string `json:"key"`
	// CreatedAt is when it was made.
	CreatedAt time.Time         `json:"createdAt"`
	Path      map[string]string `json:"path,omitempty"`
	Body      json.RawMessage   `json:"body,omitempty"`
}

func intend[Answer any](url string, path map[string]string, body any) (intent Intent[Answer], err error) {
	intent = Intent[Answer]{URL: url, Key: rand.Text(), CreatedAt: time.Now().UTC(), Path: path}
	if body != nil {
		intent.Body, err = json.Marshal(body)
	}
	return intent, err
}
