package vnpaysim

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"
)

const (
	shown   = 50       // how many payments the control shows, the latest first
	maxBody = 64 << 10 // bytes of any request
)

// control is what /control shows; of it, faults can be set.
type control struct {
	Faults   Faults         `json:"faults"`
	Answers  map[string]int `json:"answers"`
	Payments []Payment      `json:"payments"`
}

// Payment is a payment as a test or the control sees it. Amounts are in dong.
type Payment struct {
	TxnRef        string `json:"txnRef"`
	State         string `json:"state"` // WAITING, ENDED, FAILED, PAID
	ResponseCode  string `json:"responseCode"`
	TransactionNo int64  `json:"transactionNo"` // 0 when no money has moved
	Amount        int64  `json:"amount"`
	Refunded      int64  `json:"refunded"`
	Refunds       int    `json:"refunds"`
}

// Payments gives the payments that are remembered, the newest first.
func (s *Simulator) Payments() []Payment { return s.latest(s.o.Keep) }

func (s *Simulator) latest(most int) []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	all := []Payment{}
	for _, p := range slices.Backward(s.pays) {
		if len(all) == most {
			break
		}
		all = append(all, Payment{
			TxnRef: p.ref, State: string(p.now(now)), ResponseCode: p.last.response, TransactionNo: p.last.number,
			Amount: p.amount / 100, Refunded: p.refunded / 100, Refunds: len(p.refunds),
		})
	}
	return all
}

// Answers tells how often notices were answered with each code; NONE counts those that had no answer of the right form.
func (s *Simulator) Answers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.answers)
}

func (s *Simulator) showControl(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, control{s.Faults(), s.Answers(), s.latest(shown)})
}

// setControl replaces the faults. A page of another site cannot do it: a browser asks before it sends JSON elsewhere.
func (s *Simulator) setControl(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "send JSON", http.StatusUnsupportedMediaType)
		return
	}
	var c struct {
		Faults Faults `json:"faults"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		http.Error(w, `send {"faults":{...}}`, http.StatusBadRequest)
		return
	}
	if err := s.SetFaults(c.Faults); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.showControl(w, r)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // the caller may be gone
}
