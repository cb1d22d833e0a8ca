package simway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// ErrSecret is the error of VerifyWebhook for a missing or malformed secret. It is a mistake in your program,
// not a forged message.
var ErrSecret = errors.New("simway: pass the secret of the webhook endpoint, which is whsec_ and then base64")

// VerifyWebhook returns the event of a genuine message. Its ID is the same each time the message comes. A
// message that is forged, or more than 5 minutes old, is an error: answer 401. body is what arrived, before
// anything parsed it. secrets are whsec_…: while you change to a new secret, both. ErrSecret says that one of
// them is none.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (event Event, err error) {
	webhooks := make([]*standardwebhooks.Webhook, len(secrets))
	for at, secret := range secrets {
		// An empty one would be a key that everyone knows. The cause is left out: it may show the secret.
		if webhooks[at], err = standardwebhooks.NewWebhook(secret); err != nil || secret == "" || secret == "whsec_" {
			return event, fmt.Errorf("%w: number %d is none", ErrSecret, at+1)
		}
	}
	err = ErrSecret
	for _, webhook := range webhooks {
		if err = webhook.Verify(body, header); err == nil {
			err = json.Unmarshal(body, &event)
			event.ID = header.Get("webhook-id")
			return event, err
		}
	}
	return event, err
}

// DataOf reads the data of an event: DataOf[EsimPurchasedData](event) if event.Event is
// EventNameEsimPurchased.
func DataOf[Data any](event Event) (data Data, err error) {
	return data, json.Unmarshal(event.Data, &data)
}
