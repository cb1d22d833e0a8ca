// A merchant's program that may be killed at any moment: buys numbered orders with the SDK, sixteen at once,
// and keeps what it knows in a file of lines. It goes on where the file ends. test/sdk/orders-process.ts in
// Go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	simway "github.com/simway/simway/packages/sdk-go"
)

const atOnce = 16

type known struct {
	Order         int                             `json:"order"`
	Intent        *simway.Intent[simway.Purchase] `json:"intent,omitempty"`
	TransactionID string                          `json:"transactionId,omitempty"`
	Refused       simway.ErrorCode                `json:"refused,omitempty"`
}

func main() {
	var orders struct {
		BaseURL, APIKey, File string
		Count                 int
	}
	must(json.Unmarshal([]byte(os.Args[1]), &orders))
	client := simway.New(orders.BaseURL, orders.APIKey)
	client.Deadline, client.AttemptTimeout = 4*time.Second, 2*time.Second

	intents, ended := read(orders.File)
	file, err := os.OpenFile(orders.File, os.O_APPEND|os.O_WRONLY, 0)
	must(err)
	note := func(one known) {
		line, err := json.Marshal(one)
		must(err)
		// One write is one line, whole, unless the machine dies.
		_, err = file.Write(append(line, '\n'))
		must(err)
	}
	fmt.Println("ready")
	open := make(chan int)
	var buyers sync.WaitGroup
	for range atOnce {
		buyers.Add(1)
		go func() {
			defer buyers.Done()
			for order := range open {
				intent, isIntended := intents[order]
				if !isIntended {
					made, err := simway.BuyIntent(simway.BuyRequest{
						PackageCode: "SIM-OK", PackageType: "BASE", PaymentMethod: "WALLET",
					})
					must(err)
					intent = made
					note(known{Order: order, Intent: &intent})
				}
				note(bought(client, order, intent))
			}
		}()
	}
	for order := range orders.Count {
		if !ended[order] {
			open <- order
		}
	}
	close(open)
	buyers.Wait()
}

// bought sends it again for as long as its outcome is unknown.
func bought(client *simway.Client, order int, intent simway.Intent[simway.Purchase]) known {
	for {
		purchase, err := simway.Send(context.Background(), client, intent)
		if err == nil {
			return known{Order: order, TransactionID: purchase.TransactionID}
		}
		var failure *simway.Error
		if !errors.As(err, &failure) {
			log.Fatal(err)
		}
		if failure.Intent == nil {
			return known{Order: order, Refused: failure.Code}
		}
	}
}

func read(name string) (map[int]simway.Intent[simway.Purchase], map[int]bool) {
	file, err := os.Open(name)
	must(err)
	defer file.Close()
	intents, ended := map[int]simway.Intent[simway.Purchase]{}, map[int]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one known
		must(json.Unmarshal(lines.Bytes(), &one))
		if one.Intent != nil {
			intents[one.Order] = *one.Intent
		} else {
			ended[one.Order] = true
		}
	}
	return intents, ended
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
