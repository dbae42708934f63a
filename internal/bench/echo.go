package bench

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"
)

// orderBody is an order request of a phone. It has the same members as the product's, so that decoding costs the same.
type orderBody struct {
	Items []struct {
		ItemID string `json:"itemId"`
		Qty    int64  `json:"qty"`
		Notes  string `json:"notes"`
	} `json:"items"`
	PaymentMethod string `json:"paymentMethod"`
	ClientTxnID   string `json:"clientTxnId"`
	MenuVersionID string `json:"menuVersionId"`
}

// placedBody is the response to an order.
type placedBody struct {
	ID            string    `json:"id"`
	Number        string    `json:"number"`
	TotalPrice    int64     `json:"totalPrice"`
	Currency      string    `json:"currency"`
	Status        string    `json:"status"`
	PaymentStatus string    `json:"paymentStatus"`
	BizDate       string    `json:"bizDate"`
	PayBy         time.Time `json:"payBy"`
	Payment       struct {
		Method      string  `json:"method"`
		RedirectURL *string `json:"redirectUrl"`
	} `json:"payment"`
}

// EchoHandler is the minimum of an order server: it decodes an order and encodes a response, with nothing in between.
// It shows what HTTP and JSON cost on this machine: no server can accept orders faster.
func EchoHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in orderBody
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := placedBody{
			ID: in.ClientTxnID, Number: "A-042", TotalPrice: int64(len(in.Items)) * itemPrice, Currency: "VND",
			Status: "PLACED", PaymentStatus: "UNPAID", BizDate: "2026-02-26", PayBy: echoPayBy,
		}
		out.Payment.Method = in.PaymentMethod
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(out) // the client may have disconnected
	})
}

var echoPayBy = time.Date(2026, 2, 26, 5, 15, 0, 0, time.UTC)

// serveLocal serves a handler on a free local port until stop is called.
func serveLocal(ctx context.Context, h http.Handler) (base string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return "http://" + l.Addr().String(), serve(l, h), nil
}

// serve serves a handler until stop is called, which closes all connections.
func serve(l net.Listener, h http.Handler) (stop func()) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // ends with Close
	}()
	return func() {
		_ = s.Close()
		<-done
	}
}
