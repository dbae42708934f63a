package linepaysim

import (
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
)

// shown is the number of payments that /control shows, latest first.
const shown = 50

// control is the body of /control; only faults can be set.
type control struct {
	Faults   []Fault   `json:"faults"`
	Payments []Payment `json:"payments,omitempty"`
}

// Payment is a payment as tests and /control see it. Amounts are decimal numbers.
type Payment struct {
	TransactionID string `json:"transactionId"`
	OrderID       string `json:"orderId"`
	State         string `json:"state"` // WAITING, APPROVED, CANCELED, DECLINED, ENDED, PAID
	Currency      string `json:"currency"`
	Amount        string `json:"amount"`
	Refunded      string `json:"refunded"`
	Refunds       int    `json:"refunds"`
}

// Payments returns the payments in memory, newest first.
func (s *Simulator) Payments() []Payment { return s.latest(s.o.Keep) }

func (s *Simulator) latest(most int) []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	var all []Payment
	for _, p := range slices.Backward(s.transactions) {
		if len(all) == most {
			break
		}
		all = append(all, Payment{
			TransactionID: strconv.FormatInt(p.id, 10), OrderID: p.order.OrderID, State: string(p.stateAt(now)),
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

// setControl replaces the faults. It requires JSON, so that another site's page cannot do it: browsers send a preflight
// request first.
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
