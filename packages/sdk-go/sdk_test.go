package simway_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	simway "github.com/simway/simway/packages/sdk-go"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type answer struct {
	status int
	body   string
	header map[string]string
}

type asked struct{ method, url, key, body string }

var (
	order  = simway.BuyRequest{PackageCode: "SIM-OK", PackageType: "BASE", PaymentMethod: "WALLET"}
	bought = answer{201, `{"transactionId":"txn-1","status":"SUCCESS","package":{"price":2.30}}`, nil}
	lost   = answer{status: -1}
	cut    = answer{status: -2}
)

func refusal(status int, code string, retryAfter string) answer {
	return answer{status, fmt.Sprintf(`{"success":false,"error":{"code":%q,"message":"no"},"statusCode":%d}`, code, status),
		map[string]string{"Retry-After": retryAfter}}
}

func page(status int) answer {
	return answer{status, "<html>", map[string]string{"Content-Type": "text/html"}}
}

// scripted is a server that gives these answers, the last one for ever, and a client of it.
func scripted(t *testing.T, answers ...answer) (*simway.Client, *[]asked) {
	var seen []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		next := answers[min(len(seen), len(answers)-1)]
		seen = append(seen, asked{r.Method, r.URL.String(), r.Header.Get("Idempotency-Key"), string(body)})
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req-1")
		for name, value := range next.header {
			w.Header().Set(name, value)
		}
		switch next.status {
		case lost.status:
			panic(http.ErrAbortHandler)
		case cut.status:
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"transactionId":"txn-1"`)
		default:
			w.WriteHeader(next.status)
			_, _ = io.WriteString(w, next.body)
		}
	}))
	t.Cleanup(server.Close)
	client := simway.New(server.URL, "simway_test_1")
	client.Deadline = 3 * time.Second
	// Without it net/http repeats a request with a key by itself.
	client = client.WithTransport(&http.Transport{DisableKeepAlives: true})
	return client, &seen
}

func failureOf(t *testing.T, err error) *simway.Error {
	t.Helper()
	var failure *simway.Error
	if !errors.As(err, &failure) {
		t.Fatalf("no *simway.Error: %v", err)
	}
	return failure
}

func TestPostIsRepeatedWithItsKeyAndBody(t *testing.T) {
	for name, first := range map[string]answer{
		"no answer": lost, "an answer that is cut": cut, "an answer cut without a sign": {201, `{"transactionId":"txn`, nil},
		"408": refusal(408, "REQUEST_TIMEOUT", ""), "500": refusal(500, "INTERNAL_ERROR", ""),
		"503": refusal(503, "SERVICE_UNAVAILABLE", ""), "a page of a proxy": page(502),
		"in use": refusal(409, "IDEMPOTENCY_KEY_IN_USE", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			client, seen := scripted(t, first, bought)
			for range 2 {
				purchase, err := client.Buy(context.Background(), order)
				if err != nil || purchase.TransactionID != "txn-1" || purchase.Package.Price != "2.30" {
					t.Fatal(purchase, err)
				}
			}
			one, again, other := (*seen)[0], (*seen)[1], (*seen)[2]
			if one != again || len(one.key) < 20 || one.key == other.key {
				t.Fatal(*seen)
			}
		})
	}
}

func TestPostHasAnIntentWhileItsOutcomeIsUnknown(t *testing.T) {
	limited, wrongKey := refusal(429, "RATE_LIMIT_EXCEEDED", "60"), refusal(401, "INVALID_TOKEN", "")
	tooDear, notYours := refusal(400, "PRICE_ABOVE_MAX", ""), refusal(403, "NOT_YOUR_ESIM", "")
	for _, one := range []struct {
		what                string
		answers             []answer
		isStored, isUnknown bool
	}{
		{"limited at once", []answer{limited}, false, false},
		{"a refusal of a proxy", []answer{page(403)}, false, true},
		{"a page of a proxy", []answer{page(200)}, false, true},
		{"a success of another form", []answer{{200, `"ok"`, nil}}, false, true},
		{"a proxy's 404 with a stored intent", []answer{page(404)}, true, true},
		{"no such route with a stored intent", []answer{refusal(404, "NOT_FOUND", "")}, true, true},
		{"a first request that still runs", []answer{refusal(409, "IDEMPOTENCY_KEY_IN_USE", "60")}, false, true},
		{"a redirect", []answer{{307, "", map[string]string{"Location": "/elsewhere"}}}, false, true},
		{"limited after a lost answer", []answer{lost, limited}, false, true},
		{"a wrong key", []answer{wrongKey}, false, false},
		{"a wrong key after a lost answer", []answer{lost, wrongKey}, false, true},
		{"a wrong key with a stored intent", []answer{wrongKey}, true, true},
		{"refused for itself after a lost answer", []answer{lost, tooDear}, false, false},
		{"refused for itself with a stored intent", []answer{tooDear}, true, false},
		{"the eSIM of another with a stored intent", []answer{notYours}, true, false},
		{"beyond its budget with a stored intent", []answer{refusal(403, "KEY_BUDGET_EXCEEDED", "")}, true, false},
		{"no answer until the end", []answer{lost}, false, true},
	} {
		t.Run(one.what, func(t *testing.T) {
			t.Parallel()
			client, _ := scripted(t, one.answers...)
			_, err := client.Buy(context.Background(), order)
			if one.isStored {
				intent, _ := simway.BuyIntent(order)
				_, err = simway.Send(context.Background(), client, intent)
			}
			failure := failureOf(t, err)
			if (failure.Intent != nil) != one.isUnknown {
				t.Fatalf("intent: %v, error: %v", failure.Intent, failure)
			}
			if one.isUnknown != strings.Contains(err.Error(), "not known whether the request was carried out") {
				t.Fatal(err)
			}
		})
	}
}

func TestIntentIsPlainJSONAndFindsThePurchaseAgain(t *testing.T) {
	client, seen := scripted(t, lost)
	client.Deadline = 300 * time.Millisecond
	_, err := client.SandboxUseEsim(context.Background(), "esim-1", simway.SandboxUseRequest{Bytes: 1})
	failure := failureOf(t, err)
	if failure.Code != simway.ErrorCodeNoAnswer || failure.Status != 0 || errors.Unwrap(err) == nil {
		t.Fatal(err)
	}
	stored, _ := json.Marshal(failure.Intent)
	want := `{"url":"/api/sandbox/esims/{esimId}/use","key":"` + (*seen)[0].key + `","createdAt":"` +
		failure.Intent.CreatedAt.Format(time.RFC3339Nano) + `","path":{"esimId":"esim-1"},"body":{"bytes":1}}`
	if string(stored) != want {
		t.Fatal(string(stored))
	}
	var again simway.Intent[simway.Esim]
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatal(err)
	}
	later, seenLater := scripted(t, answer{200, `{"_id":"esim-1"}`, nil})
	if esim, err := simway.Send(context.Background(), later, again); err != nil || esim.ID != "esim-1" {
		t.Fatal(esim, err)
	}
	if (*seenLater)[0] != (*seen)[0] || (*seen)[0].url != "/api/sandbox/esims/esim-1/use" {
		t.Fatal(*seenLater, *seen)
	}
}

func TestIntentIsNotSentAfter29Days(t *testing.T) {
	client, seen := scripted(t, answer{200, `{"_id":"esim-1"}`, nil})
	intent, _ := simway.BuyIntent(order)
	for _, days := range []time.Duration{29, 365 * 100} {
		intent.CreatedAt = time.Now().Add(-days * 24 * time.Hour)
		_, err := simway.Send(context.Background(), client, intent)
		failure := failureOf(t, err)
		if failure.Code != simway.ErrorCodeIntentTooOld || failure.Intent == nil || len(*seen) != 0 {
			t.Fatal(err, *seen)
		}
		if !strings.Contains(err.Error(), "look for it in your lists") {
			t.Fatal(err)
		}
	}
	intent.CreatedAt = time.Now().Add(-28 * 24 * time.Hour)
	if _, err := simway.Send(context.Background(), client, intent); err != nil || len(*seen) != 1 {
		t.Fatal(err, *seen)
	}
}

func TestWaitsAsLongAsRetryAfterSays(t *testing.T) {
	date := func() string { return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat) }
	for _, makeHeader := range []func() string{func() string { return "1" }, date} {
		retryAfter := makeHeader()
		client, _ := scripted(t, refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter), bought)
		began := time.Now()
		if _, err := client.Buy(context.Background(), order); err != nil || time.Since(began) < 900*time.Millisecond {
			t.Fatal(retryAfter, time.Since(began), err)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	client, _ := scripted(t, lost)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := client.Buy(ctx, order)
	if failure := failureOf(t, err); failure.Intent == nil || time.Since(began) > time.Second {
		t.Fatal(failure, time.Since(began))
	}
}

func TestRepeatsNothingElse(t *testing.T) {
	reading, _ := scripted(t, lost, answer{200, `{"data":{"balance":9999999999999.99}}`, nil})
	balance, err := reading.GetWalletBalance(context.Background())
	if err != nil || balance.Data.Balance != "9999999999999.99" {
		t.Fatal(balance, err)
	}
	amount := simway.Decimal("5")
	writing, seen := scripted(t, lost, answer{200, `{}`, nil})
	_, err = writing.SetLowBalance(context.Background(), simway.LowBalanceRequest{Amount: &amount})
	if failure := failureOf(t, err); failure.Intent != nil || len(*seen) != 1 || (*seen)[0].body != `{"amount":5}` {
		t.Fatal(failure, *seen)
	}
	refused, seen := scripted(t, refusal(503, "ENVIRONMENT_UNAVAILABLE", ""))
	_, err = refused.GetWalletBalance(context.Background())
	if !simway.IsCode(err, simway.ErrorCodeEnvironmentUnavailable) || len(*seen) != 1 {
		t.Fatal(err, *seen)
	}
}

func TestReadsTheFourBodiesOfAnError(t *testing.T) {
	facts := `"code":"VALIDATION_ERROR","fields":[{"field":"packageCode","problem":"is required"}],"transactionId":"txn-1","details":"why"`
	for name, body := range map[string]string{
		"base":           `{"message":"no","error":{` + facts + `}}`,
		"top-up":         `{"message":"no","statusCode":400,` + facts + `}`,
		"general":        `{"error":{"message":"no",` + facts + `},"statusCode":400}`,
		"authentication": `{"error":"VALIDATION_ERROR","message":"no",` + strings.Replace(facts, "code", "x", 1) + `}`,
	} {
		client, _ := scripted(t, answer{400, body, nil})
		_, err := client.Buy(context.Background(), order)
		got := failureOf(t, err)
		if got.Code != simway.ErrorCodeValidationError || got.Status != 400 || got.Message != "no" || got.Details != "why" ||
			got.Fields["packageCode"] != "is required" || got.RequestID != "req-1" || got.TransactionID != "txn-1" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWalksPagesByCursorAndByNumber(t *testing.T) {
	ctx := context.Background()
	cursors, seen := scripted(t, answer{200, `{"esims":[{"_id":"1"},{"_id":"2"}],"nextCursor":"c2"}`, nil},
		answer{200, `{"esims":[{"_id":"3"}],"nextCursor":""}`, nil})
	var ids []string
	for esim, err := range cursors.Esims(ctx, simway.ListEsimsParams{Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, esim.ID)
	}
	if !slices.Equal(ids, []string{"1", "2", "3"}) || (*seen)[1].url != "/api/esim/my-esims?after=c2&limit=2&since=c2" {
		t.Fatal(ids, *seen)
	}
	events, _ := scripted(t, answer{200, `{"data":{"items":[],"nextCursor":"c2","hasMore":true}}`, nil},
		answer{200, `{"data":{"items":[{"id":"evt-1"}],"nextCursor":"c3","hasMore":false}}`, nil})
	var places []string
	for page, err := range events.EventsPages(ctx, simway.ListEventsParams{}) {
		places = append(places, page.Data.NextCursor, fmt.Sprint(len(page.Data.Items), err))
	}
	if !slices.Equal(places, []string{"c2", "0 <nil>", "c3", "1 <nil>"}) {
		t.Fatal(places)
	}
	numbers, seen := scripted(t, answer{200, `{"data":{"items":[{}],"pagination":{"currentPage":1,"hasNextPage":true}}}`, nil},
		answer{200, `{"data":{"items":[{}],"pagination":{"currentPage":2,"hasNextPage":false}}}`, nil})
	count := 0
	for range numbers.Batches(ctx, simway.ListBatchesParams{}) {
		count++
	}
	if count != 2 || len(*seen) != 2 || (*seen)[1].url != "/api/esim/orders/batch?page=2" {
		t.Fatal(count, *seen)
	}
	refused, seen := scripted(t, refusal(401, "INVALID_TOKEN", ""))
	for _, err := range refused.Transactions(ctx, simway.ListTransactionsParams{}) {
		if !simway.IsCode(err, simway.ErrorCodeInvalidToken) {
			t.Fatal(err)
		}
	}
	if len(*seen) != 1 {
		t.Fatal(*seen)
	}
}

func TestAmountsAreExact(t *testing.T) {
	for _, one := range []struct {
		amount simway.Decimal
		iso    string
		minor  int64
	}{{"19178.13", "NGN", 1_917_813}, {"500.00", "XOF", 500}, {"-0.05", "USD", -5}, {"90071992547409.93", "USD", 9_007_199_254_740_993}} {
		if minor, err := one.amount.Minor(one.iso); err != nil || minor != one.minor {
			t.Error(one, minor, err)
		}
		back, err := simway.FromMinor(one.minor, one.iso)
		if got, _ := back.Minor(one.iso); err != nil || got != one.minor {
			t.Error(one, back, err)
		}
	}
	for _, wrong := range []simway.Decimal{"", "0.005", "1e3", "1/2", "NaN", "99999999999999999999", "01"} {
		if minor, err := wrong.Minor("USD"); err == nil {
			t.Error(wrong, minor)
		}
	}
	for _, iso := range []string{"???", "", "QQQ", "XTS", "xts", "XAU", strings.Repeat("X", 3)} {
		if minor, err := simway.Decimal("1").Minor(iso); err == nil {
			t.Error("no such currency", iso, minor)
		}
	}
	client, seen := scripted(t, bought)
	tooFine := order
	tooFine.MaxPrice = "1,50"
	if _, err := client.Buy(context.Background(), tooFine); err == nil || len(*seen) > 0 {
		t.Error(err, *seen)
	}
}

func TestWhatIsNoIntentIsNotSent(t *testing.T) {
	client, seen := scripted(t, bought)
	whole, _ := simway.BuyIntent(order)
	withoutTime, withoutKey, withoutURL := whole, whole, whole
	withoutTime.CreatedAt, withoutKey.Key, withoutURL.URL = time.Time{}, "", ""
	for _, intent := range []simway.Intent[simway.Purchase]{{}, withoutTime, withoutKey, withoutURL} {
		_, err := simway.Send(context.Background(), client, intent)
		var failure *simway.Error
		if err == nil || errors.As(err, &failure) || !strings.Contains(err.Error(), "this is no intent, so it was not sent") {
			t.Error(intent, err)
		}
	}
	if len(*seen) != 0 {
		t.Error(*seen)
	}
}

func TestClientOfNoAddressOrKeySaysSoAndSendsNothing(t *testing.T) {
	const address, key = "http://127.0.0.1:1", "simway_test_1"
	for _, one := range []struct{ baseURL, apiKey, want string }{
		{"localhost:3000", key, "baseURL must be an http or https address"},
		{"ftp://x", key, "baseURL must be an http or https address"},
		{"", key, "baseURL must be an http or https address"},
		{"http://", key, "baseURL must be an http or https address"},
		{"http://a b", key, "baseURL must be an http or https address"},
		{address, "", "apiKey is not set"},
		{address, " simway_test_1", "apiKey has a blank"},
		{address, "simway_test_1\n", "apiKey has a blank"},
	} {
		client := simway.New(one.baseURL, one.apiKey)
		_, err := client.Buy(context.Background(), order)
		var failure *simway.Error
		if err == nil || errors.As(err, &failure) || !strings.Contains(err.Error(), one.want) || client.Err() != err {
			t.Errorf("%q %q: %v", one.baseURL, one.apiKey, err)
		}
	}
	if err := simway.New("HTTPS://api.example.com/under/", key).Err(); err != nil {
		t.Error(err)
	}
}

func TestSaysWhyNobodyAnswers(t *testing.T) {
	client := simway.New("http://127.0.0.1:1", "simway_test_1")
	client.Deadline = 100 * time.Millisecond
	_, err := client.GetWalletBalance(context.Background())
	if !simway.IsCode(err, simway.ErrorCodeNoAnswer) || !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

func TestWebhookIsVerifiedByEitherSecret(t *testing.T) {
	const former, current = "whsec_b2xkLW9sZC1vbGQ=", "whsec_bmV3LW5ldy1uZXc="
	body := []byte(`{"event":"wallet.low_balance","data":{"balance":1.10,"threshold":2,"currency":"USD"},"timestamp":"2026-01-31T09:30:00.000Z"}`)
	signed := func(secret string, at time.Time) http.Header {
		webhook, _ := standardwebhooks.NewWebhook(secret)
		signature, _ := webhook.Sign("evt-1", at, body)
		header := http.Header{}
		header.Set("webhook-id", "evt-1")
		header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
		header.Set("webhook-signature", signature)
		return header
	}
	for _, secret := range []string{former, current} {
		event, err := simway.VerifyWebhook(body, signed(secret, time.Now()), current, former)
		if err != nil || event.ID != "evt-1" || event.Event != simway.EventNameWalletLowBalance {
			t.Fatal(event, err)
		}
		if data, err := simway.DataOf[simway.WalletLowBalanceData](event); err != nil || data.Balance != "1.10" {
			t.Fatal(data, err)
		}
	}
	for name, act := range map[string]func() (simway.Event, error){
		"changed": func() (simway.Event, error) {
			return simway.VerifyWebhook(append(body, ' '), signed(former, time.Now()), current, former)
		},
		"of another secret": func() (simway.Event, error) {
			return simway.VerifyWebhook(body, signed(former, time.Now()), current)
		},
		"old": func() (simway.Event, error) {
			return simway.VerifyWebhook(body, signed(former, time.Now().Add(-301*time.Second)), former)
		},
		"unsigned":         func() (simway.Event, error) { return simway.VerifyWebhook(body, http.Header{}, former) },
		"without a secret": func() (simway.Event, error) { return simway.VerifyWebhook(body, signed(former, time.Now())) },
	} {
		if event, err := act(); err == nil || errors.Is(err, simway.ErrSecret) != (name == "without a secret") {
			t.Errorf("%s: %v, taken: %v", name, err, event)
		}
	}
	// A message that is signed with an empty key.
	mac := hmac.New(sha256.New, nil)
	header := signed(former, time.Now())
	fmt.Fprintf(mac, "evt-1.%s.%s", header.Get("webhook-timestamp"), body)
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, secrets := range [][]string{{""}, {"whsec_"}, {"my secret!"}, {"whsec_b2xkL"}, {former, ""}, {"", former}} {
		event, err := simway.VerifyWebhook(body, header, secrets...)
		if !errors.Is(err, simway.ErrSecret) || strings.Contains(err.Error(), "b2xk") {
			t.Errorf("%q: %v, taken: %v", secrets, err, event)
		}
	}
}

func TestMagicPackages(t *testing.T) {
	if simway.MagicPackageSimOk.TopUp() != "TOPUP_SIM-OK" {
		t.Error(simway.MagicPackageSimOk.TopUp())
	}
	client, seen := scripted(t, answer{200, `{}`, nil})
	_, err := client.AdvanceClock(context.Background(), "esim/1", 12*24*time.Hour)
	if err != nil || (*seen)[0].body != `{"advanceSeconds":1036800}` || (*seen)[0].url != "/api/sandbox/esims/esim%2F1/clock" {
		t.Error(err, *seen)
	}
}
