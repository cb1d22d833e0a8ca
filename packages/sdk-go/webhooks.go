package simway

import (
	"encoding/json"
	"errors"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// VerifyWebhook returns the event of a genuine message. Its ID is the same each time the message comes. A
// message that is forged, or more than 5 minutes old, is an error: answer 401. body is what arrived, before
// anything parsed it. secrets are whsec_…: while you change to a new secret, both.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (event Event, err error) {
	err = errors.New("simway: no secret to verify with")
	for _, secret := range secrets {
		var webhook *standardwebhooks.Webhook
		if webhook, err = standardwebhooks.NewWebhook(secret); err != nil {
			return event, err
		}
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
