package linepaysim

import (
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
)

// shown is how many payments the control shows, the latest first.
const shown = 50

// control is what /control shows; of it, faults can be set.
type control struct {
	Faults   []Fault   `json:"faults"`
	Payments []Payment `json:"payments,omitempty"`
}

// Payment is a payment as a test or the control sees it. Amounts are decimal numbers.
type Payment struct {
	TransactionID string `json:"transactionId"`
	OrderID       string `json:"orderId"`
	State         string `json:"state"` // WAITING, APPROVED, CANCELED, DECLINED, ENDED, PAID
	Currency      string `json:"currency"`
	Amount        string `json:"amount"`
	Refunded      string `json:"refunded"`
	Refunds       int    `json:"refunds"`
}

// Payments gives the payments that are remembered, the newest first.
func (s *Simulator) Payments() []Payment { return s.latest(s.o.Keep) }

func (s *Simulator) latest(most int) []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	var all []Payment
	for _, p := range slices.Backward(s.pays) {
		if len(all) == most {
			break
		}
		all = append(all, Payment{
			TransactionID: strconv.FormatInt(p.id, 10), OrderID: p.order.OrderID, State: string(p.now(now)),
			Currency: p.order.Currency, Amount: decimal(p.amount).String(), Refunded: decimal(p.refunded).String(),
			Refunds: len(p.refunds),
		})
	}
	return all
}

func (s *Simulator) showControl(w http.ResponseWriter, _ *http.Request) {
	payments := s.latest(shown)
	s.mu.Lock()
	faults := append([]Fault{}, s.faults...)
	s.mu.Unlock()
	write(w, control{Faults: faults, Payments: payments})
}

// setControl replaces the faults. A page of another site cannot do it: a browser asks before it sends JSON elsewhere.
func (s *Simulator) setControl(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "send JSON", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var c struct {
		Faults []Fault `json:"faults"`
	}
	if err != nil || !decode(body, &c) {
		http.Error(w, `send {"faults":[...]}`, http.StatusBadRequest)
		return
	}
	if err := s.SetFaults(c.Faults...); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.showControl(w, r)
}
