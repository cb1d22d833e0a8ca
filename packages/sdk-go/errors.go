package simway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// ErrorCodeNoAnswer means that the connection broke, or the time was over.
	ErrorCodeNoAnswer ErrorCode = "NO_ANSWER"
	// ErrorCodeUnexpectedAnswer means an answer that is not from Simway, such as a page of a proxy.
	ErrorCodeUnexpectedAnswer ErrorCode = "UNEXPECTED_ANSWER"
	// ErrorCodeIntentTooOld means that it was not sent, because Simway may have forgotten its key.
	ErrorCodeIntentTooOld ErrorCode = "INTENT_TOO_OLD"
)

// Error is why a call did not succeed. Decide by Code; docs/ERRORS.md says what each means.
type Error struct {
	Code    ErrorCode
	Message string
	Details string
	// Status is that of HTTP; 0 without an answer.
	Status int
	// Fields says what is wrong, by the name of the field: "rows.17.packageCode": "is required". In the body of
	// the answer it is a list. It is empty where the answer has none.
	Fields map[string]string
	// RequestID names the request in Simway's log.
	RequestID string
	// TransactionID is that of the purchase or funding that failed, where it was written.
	TransactionID string
	// RetryAfter is how long Simway asks to wait.
	RetryAfter time.Duration
	// Intent is there exactly when it is not known whether the POST was carried out. Keep it, and Send it
	// within 29 days: that finds what was done, or does it once.
	Intent *Intent[json.RawMessage]
	cause  error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("simway: %s: %s", e.Code, e.Message)
	if e.Intent != nil {
		text += ". It is not known whether the request was carried out: "
		if e.Code == ErrorCodeIntentTooOld {
			text += "look for it in your lists"
		} else {
			text += "send the intent again"
		}
	}
	return text
}

// Unwrap is the error of the transport, if there was no answer.
func (e *Error) Unwrap() error { return e.cause }

// IsCode reports whether a call failed with this code.
func IsCode(err error, code ErrorCode) bool {
	var failure *Error
	return errors.As(err, &failure) && failure.Code == code
}

// isTemporary: docs/ERRORS.md, "Which refusals are temporary". A proxy's 502 and 504 are as well.
func (e *Error) isTemporary() bool {
	switch e.Code {
	case ErrorCodeIdempotencyKeyInUse:
		return true
	case ErrorCodeEnvironmentUnavailable:
		return false
	}
	return e.Status == 0 || e.isLimit() || e.Status >= 500
}

// isLimit: refused before anything was done.
func (e *Error) isLimit() bool {
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusTooManyRequests
}

// leavesOpen: the request may have been carried out, or be running.
func (e *Error) leavesOpen() bool {
	return e.Code == ErrorCodeUnexpectedAnswer || (e.isTemporary() && !e.isLimit())
}

// settles: a refusal that comes after the key was looked up, so nothing was carried out under it. Others,
// such as a wrong API key or a limit, come before.
func (e *Error) settles() bool {
	switch e.Code {
	case ErrorCodeNotYourEsim, ErrorCodeKeyBudgetExceeded:
		return true
	case ErrorCodeNotFound, ErrorCodeIdempotencyKeyInUse, ErrorCodeUnexpectedAnswer:
		return false
	}
	switch e.Status {
	case 400, 404, 409, 410, 422:
		return true
	}
	return false
}

func noAnswer(cause error) *Error {
	return &Error{Code: ErrorCodeNoAnswer, Message: cause.Error(), cause: cause}
}

// unreadable is a success whose body has another form: what was asked for may have been done.
func unreadable(cause error, intent *Intent[json.RawMessage]) *Error {
	return &Error{
		Code:    ErrorCodeUnexpectedAnswer,
		Status:  http.StatusOK,
		Message: "the answer has another form: " + cause.Error(),
		Intent:  intent,
		cause:   cause,
	}
}

func tooOld(intent Intent[json.RawMessage]) *Error {
	made := intent.CreatedAt.Format(time.RFC3339)
	message := "The intent of " + made + " is older than 29 days, so it was not sent"
	return &Error{Code: ErrorCodeIntentTooOld, Message: message, Intent: &intent}
}

// failureIn reads every body of docs/ERRORS.md but that of agentic checkout.
func failureIn(response *http.Response, body []byte) *Error {
	type refusal struct {
		Code, Message, Details, TransactionID string
		Fields                                []struct{ Field, Problem string }
		Error                                 json.RawMessage
	}
	var outer, found refusal
	_ = json.Unmarshal(body, &outer)
	if json.Unmarshal(outer.Error, &found) != nil {
		found = outer
		_ = json.Unmarshal(outer.Error, &found.Code)
	}
	failure := &Error{
		Code:          ErrorCodeUnexpectedAnswer,
		Message:       "HTTP " + strconv.Itoa(response.StatusCode),
		Details:       found.Details,
		Status:        response.StatusCode,
		Fields:        map[string]string{},
		RequestID:     response.Header.Get("X-Request-Id"),
		TransactionID: found.TransactionID,
		RetryAfter:    retryAfter(response.Header.Get("Retry-After")),
	}
	if found.Code != "" {
		failure.Code = ErrorCode(found.Code)
	}
	for _, message := range []string{outer.Message, found.Message} {
		if message != "" {
			failure.Message = message
		}
	}
	for _, wrong := range found.Fields {
		failure.Fields[wrong.Field] = wrong.Problem
	}
	return failure
}

// retryAfter reads seconds or a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, time.Until(at))
}
