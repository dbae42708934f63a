package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// installation is a database with two consumers: daybook, and broken, whose dead letters fail once more.
type installation struct {
	*Service

	t      *testing.T
	stored int64 // dead letters
}

func open(t *testing.T) *installation {
	t.Helper()
	db := sqldbtest.SQLite(t)
	apply := func(err error) func(context.Context, sqldb.Tx, []event.Event) error {
		return func(context.Context, sqldb.Tx, []event.Event) error { return err }
	}
	types := []string{event.OrderPaid.Name}
	return &installation{t: t, Service: NewService(Config{
		DB: db, Epoch: func() string { return "" },
		Consumers: []inbox.Consumer{
			{Name: "daybook", Types: types, Apply: apply(nil)}, {Name: "broken", Types: types, Apply: apply(errors.New("broken"))},
		},
	})}
}

// deadLetter stores a dead letter of a consumer, newer than those before.
func (i *installation) deadLetter(id, consumer, payload string) {
	i.t.Helper()
	e := event.Event{
		ID: id, Type: event.OrderPaid.Name, Aggregate: "order", AggregateID: "o", Seq: 1, BranchID: 1,
		Payload: json.RawMessage(payload), At: time.UnixMilli(1),
	}
	i.stored++
	testenv.NoError(i.t, i.DB.Write(i.t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		eventsql.InsertDeadLetters(tx, []eventsql.DeadLetter{
			{Event: e, Consumer: consumer, Reason: "failed", DiedAt: time.UnixMilli(i.stored)},
		})
		return nil
	}))
}

// left returns the number of dead letters.
func (i *installation) left() int64 {
	i.t.Helper()
	_, n := testenv.Must2(i.DeadLetters(i.t.Context(), DeadLetterFilter{Limit: 1}))(i.t)
	return n
}

// replaysAudited returns the replays in the audit log.
func (i *installation) replaysAudited() []audit.Entry {
	i.t.Helper()
	all, _ := testenv.Must2(auditsql.NewLog(i.DB).Entries(i.t.Context(), audit.Filter{
		Action: audit.ActionReplayed, EveryBranch: true, To: time.Now().Add(time.Hour), Limit: 100,
	}))(i.t)
	return all
}

var boss = authz.Actor{Kind: authz.Account, UserID: 7, AllBranches: true}

func TestService_Replay(t *testing.T) {
	i := open(t)
	i.deadLetter("a", "daybook", "{}")
	i.deadLetter("b", "daybook", "{}")
	sum, err := i.Replay(t.Context(), boss, "a")
	if err != nil || sum != (Replayed{Applied: 1}) || i.left() != 1 {
		t.Errorf("Replay = %+v, %v, want one applied and one left", sum, err)
	}
	if log := i.replaysAudited(); len(log) != 1 || log[0].Subject != "deadLetter:a" || log[0].Actor != "user:7" {
		t.Errorf("audit log = %+v, want the replay of a by user:7", log)
	}
	if _, err := i.Replay(t.Context(), boss, "a"); !errors.Is(err, ErrLetter) || len(i.replaysAudited()) != 1 {
		t.Errorf("once more: %v", err)
	}
}

func TestService_ReplayAll(t *testing.T) {
	i := open(t)
	i.deadLetter("beyond", "daybook", "{}") // the oldest: more than MaxReplayed are newer
	i.deadLetter("stuck", "broken", "{}")
	for n := range MaxReplayed - 1 {
		i.deadLetter(fmt.Sprintf("%03d", n), "daybook", "{}")
	}
	sum, left, err := i.ReplayAll(t.Context(), boss, DeadLetterFilter{})
	if err != nil || sum != (Replayed{Applied: MaxReplayed - 1, Failed: 1}) || left != 2 || len(i.replaysAudited()) != 1 {
		t.Errorf("%+v, %d left, %d recorded, %v", sum, left, len(i.replaysAudited()), err)
	}
	sum, left, err = i.ReplayAll(t.Context(), boss, DeadLetterFilter{Consumer: "daybook"})
	if err != nil || sum != (Replayed{Applied: 1}) || left != 0 {
		t.Errorf("%+v, %d left, %v", sum, left, err)
	}
	sum, _, err = i.ReplayAll(t.Context(), boss, DeadLetterFilter{Consumer: "daybook"})
	if err != nil || sum.Sum() != 0 || len(i.replaysAudited()) != 2 {
		t.Errorf("of nothing: %+v, %d recorded, %v", sum, len(i.replaysAudited()), err)
	}
}

// While a long operation runs, other long ones are refused and short ones are answered.
func TestService_one_at_a_time(t *testing.T) {
	i := open(t)
	i.deadLetter("a", "daybook", "{}")
	i.long.Lock()
	_, audited := i.AuditKeys(t.Context())
	_, reconciled := i.Reconcile(t.Context(), 1)
	_, indexed := i.Index(t.Context())
	_, replayed := i.Replay(t.Context(), boss, "a")
	_, _, all := i.ReplayAll(t.Context(), boss, DeadLetterFilter{})
	for what, err := range map[string]error{
		"audit": audited, "reconcile": reconciled, "index": indexed, "replay": replayed, "replay all": all,
	} {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("%s during another one: error %v, want ErrBusy", what, err)
		}
	}
	testenv.Equal(t, 1, len(testenv.Must(i.Outbox(t.Context()))(t).Dead))
	i.long.Unlock()
	if r, err := i.Reconcile(t.Context(), 0); err != nil || !r.Clean {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
	if r, err := i.Reconcile(t.Context(), 4); !errors.Is(err, catalog.ErrBranch) || r.Clean {
		t.Errorf("of an unknown branch: %+v, %v", r, err)
	}
	testenv.Equal(t, 1, testenv.Must(i.Replay(t.Context(), boss, "a"))(t).Applied)
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
	i := open(t)
	i.deadLetter("a", "daybook", `{"secret":"x"}`)
	page, total, err := i.DeadLetters(t.Context(), DeadLetterFilter{Limit: 10})
	if err != nil || total != 1 || string(page[0].Payload) != `{"secret":"[redacted]"}` {
		t.Errorf("%+v of %d, %v", page, total, err)
	}
}
