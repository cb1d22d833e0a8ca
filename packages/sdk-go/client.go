// Package simway is the API of Simway for eSIM resellers. A purchase is made once, even if an answer is lost
// or the program is killed: see README.md.
package simway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

const (
	firstWait = 250 * time.Millisecond
	maxWait   = 8 * time.Second
)

// Client has every call of the API for a key, by the names of the reference. GETs, and POSTs under their
// Idempotency-Key, are repeated until they are answered or the time is over. It is safe for use by several
// goroutines.
type Client struct {
	baseURL, apiKey string
	// wrong is why this client can call nothing.
	wrong error
	http  http.Client
	// Deadline is for a call with all its repeats and waits, where its context has no earlier one.
	Deadline time.Duration
	// AttemptTimeout is for one attempt. The API answers a purchase within 8 seconds.
	AttemptTimeout time.Duration
}

// New takes the address of the API, such as https://api.example.com, and a key. Keep the key on your servers.
// With what cannot be an address or a key, every call of the client is an error that says so, and sends
// nothing. Err has it at once.
func New(baseURL, apiKey string) *Client {
	return &Client{
		wrong:   wrongIn(baseURL, apiKey),
		baseURL: strings.TrimSuffix(baseURL, "/"),
		apiKey:  apiKey,
		// A redirected POST would become a GET.
		http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		Deadline:       time.Minute,
		AttemptTimeout: 15 * time.Second,
	}
}

// wrongIn names no value: a key is secret.
func wrongIn(baseURL, apiKey string) error {
	address, err := url.Parse(baseURL)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return errors.New("simway: baseURL must be an http or https address, such as https://api.example.com")
	}
	if apiKey == "" {
		return errors.New("simway: apiKey is not set")
	}
	// net/http takes blanks away, so a key with them would pass for another one before it is sent.
	if strings.ContainsFunc(apiKey, func(char rune) bool { return char < '!' || char > '~' }) {
		return errors.New("simway: apiKey has a blank or a character that no key has")
	}
	return nil
}

// Err is why this client can call nothing: its address or its key cannot be one. It is nil for a good one.
func (c *Client) Err() error { return c.wrong }

// WithTransport replaces the transport of net/http.
func (c *Client) WithTransport(transport http.RoundTripper) *Client {
	changed := *c
	changed.http.Transport = transport
	return &changed
}

// Send carries out an intent once, however often it is sent, also by another process, and returns what the
// first sending did. Its error is an *Error: with an Intent while the outcome is unknown, without one if it
// was refused. One that was made more than 29 days ago is not sent: ErrorCodeIntentTooOld. What is no intent,
// such as an empty one, is not sent either, and the error is no *Error.
func Send[Answer any](ctx context.Context, c *Client, intent Intent[Answer]) (Answer, error) {
	if intent.URL == "" || intent.Key == "" || intent.CreatedAt.IsZero() {
		return *new(Answer), errors.New("simway: this is no intent, so it was not sent: it has no URL, Key or CreatedAt")
	}
	if time.Since(intent.CreatedAt) >= sendable {
		return *new(Answer), tooOld(Intent[json.RawMessage](intent))
	}
	return carryOut(ctx, c, intent, false)
}

// sendNew sends an intent that nobody can have sent before.
func sendNew[Answer any](ctx context.Context, c *Client, intent Intent[Answer]) (Answer, error) {
	return carryOut(ctx, c, intent, true)
}

func carryOut[Answer any](ctx context.Context, c *Client, intent Intent[Answer], isNew bool) (Answer, error) {
	kept := Intent[json.RawMessage](intent)
	sent := request{http.MethodPost, expand(intent.URL, intent.Path), intent.Body, &kept, isNew}
	success, err := c.send(ctx, sent)
	return answered[Answer](success, err, sent.intent)
}

func call[Answer any](ctx context.Context, c *Client, method, path string, query url.Values, body any) (Answer, error) {
	sent := request{method: method, path: path}
	if len(query) > 0 {
		sent.path += "?" + query.Encode()
	}
	if body != nil {
		var err error
		if sent.body, err = json.Marshal(body); err != nil {
			return *new(Answer), err
		}
	}
	success, err := c.send(ctx, sent)
	return answered[Answer](success, err, sent.intent)
}

func answered[Answer any](body []byte, err error, intent *Intent[json.RawMessage]) (answer Answer, _ error) {
	if err != nil {
		return answer, err
	}
	if text, isText := any(&answer).(*string); isText {
		*text = string(body)
		return answer, nil
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, unreadable(err, intent)
	}
	return answer, nil
}

type request struct {
	method, path string
	body         []byte
	// intent is that of a POST; isNew says that nobody can have sent it before.
	intent *Intent[json.RawMessage]
	isNew  bool
}

// send sends until the request is answered for good, and repeats only what is safe: a GET, and a POST with
// its key.
func (c *Client) send(ctx context.Context, sent request) ([]byte, error) {
	if c.wrong != nil {
		return nil, c.wrong
	}
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	endsAt, _ := ctx.Deadline()
	mayRepeat := sent.intent != nil || sent.method == http.MethodGet
	mayBeDone := sent.intent != nil && !sent.isNew
	for most := firstWait; ; most = min(maxWait, most*2) {
		body, failure := c.attempt(ctx, sent)
		if failure == nil {
			return body, nil
		}
		mayBeDone = mayBeDone || failure.leavesOpen()
		wait := failure.RetryAfter + rand.N(most)
		isInTime := time.Now().Add(wait).Before(endsAt) && ctx.Err() == nil
		if !mayRepeat || !failure.isTemporary() || !isInTime {
			if mayBeDone && !failure.settles() {
				failure.Intent = sent.intent
			}
			return nil, failure
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// attempt reads the whole answer before it counts as one.
func (c *Client) attempt(ctx context.Context, sent request) ([]byte, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.AttemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, sent.method, c.baseURL+sent.path, bytes.NewReader(sent.body))
	if err != nil {
		return nil, noAnswer(err)
	}
	req.Header.Set("X-API-Key", c.apiKey)
	if sent.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if sent.intent != nil {
		req.Header.Set("Idempotency-Key", sent.intent.Key)
	}
	response, err := c.http.Do(req)
	if err != nil {
		return nil, noAnswer(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, noAnswer(err)
	}
	isJSON := strings.Contains(response.Header.Get("Content-Type"), "json")
	if isJSON && !json.Valid(body) {
		return nil, noAnswer(errors.New("the answer was cut"))
	}
	// A page of a proxy is no success of ours; files are only read.
	isOurs := isJSON || sent.method == http.MethodGet
	if response.StatusCode/100 == 2 && isOurs {
		return body, nil
	}
	return nil, failureIn(response, body)
}

// expand fills in a path such as /api/esim/{esimId}.
func expand(path string, values map[string]string) string {
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	return path
}

// queryOf has the fields of the parameters that are set.
func queryOf(params any) url.Values {
	query := url.Values{}
	given := reflect.ValueOf(params)
	for at := range given.NumField() {
		if field := given.Field(at); !field.IsZero() {
			name, _, _ := strings.Cut(given.Type().Field(at).Tag.Get("json"), ",")
			query.Set(name, fmt.Sprint(reflect.Indirect(field)))
		}
	}
	return query
}
