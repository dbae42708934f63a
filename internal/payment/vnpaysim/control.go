package vnpaysim

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"
)

const (
	shown   = 50       // number of payments that /control shows, latest first
	maxBody = 64 << 10 // bytes of any request
)

// control is the body of /control; only faults can be set.
type control struct {
	Faults   Faults         `json:"faults"`
	Answers  map[string]int `json:"answers"`
	Payments []Payment      `json:"payments"`
}

// Payment is a payment as tests and /control see it. Amounts are in dong.
type Payment struct {
	TxnRef        string `json:"txnRef"`
	State         string `json:"state"` // WAITING, ENDED, FAILED, PAID
	ResponseCode  string `json:"responseCode"`
	TransactionNo int64  `json:"transactionNo"` // 0 when no money has moved
	Amount        int64  `json:"amount"`
	Refunded      int64  `json:"refunded"`
	Refunds       int    `json:"refunds"`
}

// Payments returns the payments in memory, newest first.
func (s *Simulator) Payments() []Payment { return s.latest(s.o.Keep) }

func (s *Simulator) latest(most int) []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	all := []Payment{}
	for _, p := range slices.Backward(s.transactions) {
		if len(all) == most {
			break
		}
		all = append(all, Payment{
			TxnRef: p.ref, State: string(p.stateAt(now)), ResponseCode: p.last.response, TransactionNo: p.last.number,
			Amount: p.amount / 100, Refunded: p.refunded / 100, Refunds: len(p.refunds),
		})
	}
	return all
}

// Answers returns how many notices got each reply code. NONE counts those without a valid reply.
func (s *Simulator) Answers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.answers)
}

func (s *Simulator) showControl(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, control{s.Faults(), s.Answers(), s.latest(shown)})
}

// setControl replaces the faults. It requires JSON, so that another site's page cannot do it: browsers send a preflight
// request first.
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
