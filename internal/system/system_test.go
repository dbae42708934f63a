package system

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"comanda/internal/identity"
	"comanda/internal/keyspace/audit"
	"comanda/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is an installation with dead letters; those of a broken consumer die once more.
type house struct {
	letters  []queue.DeadLetter
	replayed []string
	recorded []identity.AuditEntry
	entered  chan struct{} // signalled when a long operation begins; may be nil
	leave    chan struct{}
}

func (h *house) Outbox(context.Context) (Outbox, error) { return Outbox{Pending: 3}, nil }
func (h *house) About(context.Context) (About, error)   { return About{Version: "1"}, nil }

func (h *house) DeadLetters(_ context.Context, f DeadLetterFilter) ([]queue.DeadLetter, int64, error) {
	some := slices.DeleteFunc(slices.Clone(h.letters), func(l queue.DeadLetter) bool {
		return f.Consumer != "" && l.Consumer != f.Consumer || f.Type != "" && l.Type != f.Type
	})
	from := min(f.Offset, len(some))
	return some[from:min(from+f.Limit, len(some))], int64(len(some)), nil
}

func (h *house) Replay(_ context.Context, f ReplayFilter) (sum Replayed, err error) {
	h.letters = slices.DeleteFunc(h.letters, func(l queue.DeadLetter) bool {
		if l.ID != f.ID || f.Consumer != "" && l.Consumer != f.Consumer {
			return false
		}
		h.replayed = append(h.replayed, l.ID)
		if l.Consumer == "broken" {
			sum.Failed++
			return false
		}
		sum.Applied++
		return true
	})
	return sum, nil
}

func (h *house) Record(_ context.Context, e identity.AuditEntry) error {
	h.recorded = append(h.recorded, e)
	return nil
}

func (h *house) long() {
	if h.entered != nil {
		h.entered <- struct{}{}
		<-h.leave
	}
}

func (h *house) AuditKeys(_ context.Context, most int64) (audit.Report, error) {
	h.long()
	return audit.Report{Keys: most}, nil
}

func (h *house) Reconcile(_ context.Context, branch int64) (Reconciliation, error) {
	return Reconciliation{Clean: true, Scopes: int(branch)}, nil
}

func (h *house) Index(_ context.Context, most int) (Index, error) { return Index{Documents: most}, nil }

func deskOf(h *house) *Service {
	return NewService(h, func() time.Time { return time.Unix(60, 0) })
}

var boss = identity.Actor{Kind: identity.Account, UserID: 7, AllBranches: true}

func TestService_Replay(t *testing.T) {
	h := &house{letters: []queue.DeadLetter{{ID: "a", Consumer: "daybook"}, {ID: "b", Consumer: "daybook"}}}
	d := deskOf(h)
	sum, err := d.Replay(t.Context(), boss, "a")
	if err != nil || sum != (Replayed{Applied: 1}) || len(h.letters) != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	if len(h.recorded) != 1 || h.recorded[0].Action != identity.ActionReplayed || h.recorded[0].Subject != "deadLetter:a" ||
		h.recorded[0].Actor != "user:7" {
		t.Errorf("%+v", h.recorded)
	}
	if _, err := d.Replay(t.Context(), boss, "a"); !errors.Is(err, ErrLetter) || len(h.recorded) != 1 {
		t.Errorf("once more: %v", err)
	}
}

func TestService_ReplayAll(t *testing.T) {
	h := &house{}
	for range MaxReplayed - 1 {
		h.letters = append(h.letters, queue.DeadLetter{ID: "x", Consumer: "daybook"})
	}
	for i := range h.letters {
		h.letters[i].ID = string(rune('!' + i))
	}
	h.letters = append(h.letters, queue.DeadLetter{ID: "stuck", Consumer: "broken"}, queue.DeadLetter{ID: "beyond", Consumer: "daybook"})
	d := deskOf(h)
	sum, left, err := d.ReplayAll(t.Context(), boss, DeadLetterFilter{})
	if err != nil || sum != (Replayed{Applied: MaxReplayed - 1, Failed: 1}) || left != 2 || len(h.recorded) != 1 {
		t.Errorf("%+v, %d left, %d recorded, %v", sum, left, len(h.recorded), err)
	}
	sum, left, err = d.ReplayAll(t.Context(), boss, DeadLetterFilter{Consumer: "daybook"})
	if err != nil || sum != (Replayed{Applied: 1}) || left != 0 {
		t.Errorf("%+v, %d left, %v", sum, left, err)
	}
	sum, _, err = d.ReplayAll(t.Context(), boss, DeadLetterFilter{Consumer: "daybook"})
	if err != nil || sum.Sum() != 0 || len(h.recorded) != 2 {
		t.Errorf("of nothing: %+v, %d recorded, %v", sum, len(h.recorded), err)
	}
}

// While something long goes on, everything long is refused and everything short answered.
func TestService_one_at_a_time(t *testing.T) {
	h := &house{entered: make(chan struct{}), leave: make(chan struct{})}
	d := deskOf(h)
	done := make(chan error, 1)
	go func() {
		_, err := d.AuditKeys(t.Context())
		done <- err
	}()
	<-h.entered
	_, audited := d.AuditKeys(t.Context())
	_, reconciled := d.Reconcile(t.Context(), 1)
	_, indexed := d.Index(t.Context())
	_, replayed := d.Replay(t.Context(), boss, "a")
	_, _, all := d.ReplayAll(t.Context(), boss, DeadLetterFilter{})
	for what, err := range map[string]error{
		"audit": audited, "reconcile": reconciled, "index": indexed, "replay": replayed, "replay all": all,
	} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s, err := d.Outbox(t.Context()); err != nil || s.Pending != 3 {
		t.Errorf("outbox: %+v, %v", s, err)
	}
	close(h.leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if r, err := d.Reconcile(t.Context(), 4); err != nil || r.Scopes != 4 {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
	if x, err := d.Index(t.Context()); err != nil || x.Documents != MaxDocuments {
		t.Errorf("afterwards: %+v, %v", x, err)
	}
}

func TestMasked(t *testing.T) {
	for payload, want := range map[string]string{
		`{"orderId":"o","amount":9007199254740993}`:                           `{"amount":9007199254740993,"orderId":"o"}`,
		`{"password":"x","Token":7,"apiKey":{"a":1},"api_key":null}`:          `{"Token":"[redacted]","apiKey":"[redacted]","api_key":"[redacted]","password":"[redacted]"}`,
		`[{"deep":[{"accessToken":"x","ok":1}]}]`:                             `[{"deep":[{"accessToken":"[redacted]","ok":1}]}]`,
		`{"vnp_SecureHash":"x","Authorization":"Bearer x","cardNumber":"41"}`: `{"Authorization":"[redacted]","cardNumber":"[redacted]","vnp_SecureHash":"[redacted]"}`,
		`password=hunter2`: `"[not JSON]"`,
		`{"a":1} secret`:   `"[not JSON]"`,
		``:                 `"[not JSON]"`,
		`"text"`:           `"text"`,
	} {
		if got := string(Masked(json.RawMessage(payload))); got != want {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
}

func TestService_Letters_are_masked(t *testing.T) {
	d := deskOf(&house{letters: []queue.DeadLetter{{ID: "a", Payload: json.RawMessage(`{"secret":"x"}`)}}})
	page, total, err := d.DeadLetters(t.Context(), DeadLetterFilter{Limit: 10})
	want := []queue.DeadLetter{{ID: "a", Payload: json.RawMessage(`{"secret":"[redacted]"}`)}}
	if diff := cmp.Diff(want, page); diff != "" || total != 1 || err != nil {
		t.Errorf("%d, %v %s", total, err, diff)
	}
}
