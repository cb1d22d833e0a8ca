// A webhook receiver in Go, with the standard library only.
//
//	WEBHOOK_SECRET=whsec_... go run webhook_receiver.go
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance    = 5 * time.Minute
	maxBodyBytes = 1 << 20
)

type event struct {
	Event     string         `json:"event"`
	Data      map[string]any `json:"data"`
	Timestamp time.Time      `json:"timestamp"`
}

type receiver struct {
	key []byte
	// In production: a table with a unique column, written in the same transaction as your change.
	taken sync.Map
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	// The signature covers the raw bytes: verify before parsing.
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	if err != nil || !r.isGenuine(request.Header, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := request.Header.Get("webhook-id")
	if _, again := r.taken.Load(id); !again {
		handle(e)
	}
	r.taken.Store(id, true)
	w.WriteHeader(http.StatusNoContent)
}

// isGenuine reports whether the body is genuine, unchanged and recent.
func (r *receiver) isGenuine(header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, r.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// There are several while a secret is being replaced.
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

// handle accepts the event and returns at once. Put long work into your own queue.
func handle(e event) {
	if e.Event == "esim.purchased" {
		fmt.Println(e.Data["transactionId"], "is", e.Data["status"])
		return
	}
	fmt.Println(e.Event)
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("set WEBHOOK_SECRET to the whsec_... secret of the endpoint")
	}
	http.Handle("POST /", &receiver{key: key})
	fmt.Println("listening")
	log.Fatal(http.ListenAndServe("127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "4000"), nil))
}
