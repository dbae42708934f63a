package documentredis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// sendRaw sends commands without the store, as another program does. Each is the verb, the key and the arguments.
func sendRaw(t testing.TB, r *fixture, cmds ...[]string) {
	t.Helper()
	for _, c := range cmds {
		testenv.NoError(t, r.redis.Do(t.Context(), c[0], keyOf(t, c[1]), c[2:]...).Err())
	}
}

// planted has every kind of difference, with the commands that cause it after fill and the expected report.
var planted = []struct {
	name string
	kind string
	cmds [][]string
	want string
}{
	{"document lost", document.Missing, [][]string{{"DEL", "user:456"}}, "user:456 (user:456)"},
	{"document of an older version", document.Stale, [][]string{{"SET", "user:456", `{"id":"456","version":0}`}}, "user:456 (user:456)"},
	{"document changed by hand", document.Differs, [][]string{{"SET", "user:456", `{"id":"456","version":1}`}}, "user:456 (user:456)"},
	{"document that is not a document", document.Differs, [][]string{{"SET", "dish:789", "pho"}}, "dish:789 (dish:789)"},
	{"memo lost", document.MemoWrong, [][]string{{"DEL", "memo:{user:456}"}}, "user:456 (memo:{user:456})"},
	{"memo without an entry", document.MemoWrong, [][]string{{"SET", "memo:{cart:123}", "1"}}, "cart:123 (memo:{cart:123})"},
	{"memo of a deletion", document.MemoWrong, [][]string{{"SET", "memo:{cart:123}", "1 x"}}, "cart:123 (memo:{cart:123})"},
	{"memo that is not a memo", document.MemoWrong, [][]string{{"SET", "memo:{cart:123}", "what"}}, "cart:123 (memo:{cart:123})"},
	{
		"unique index lost", document.EntryMissing, [][]string{{"DEL", "user:index:email:user@example.com"}},
		"user:456 (user:index:email:user@example.com)",
	},
	{
		"unique index that leads elsewhere", document.EntryMissing, [][]string{{"SET", "user:index:phone:+966501234567", "457"}},
		"user:456 (user:index:phone:+966501234567)",
	},
	{"not in a set", document.EntryMissing, [][]string{{"SREM", "cart:123:items", "457"}}, "cartDetail:457 (cart:123:items)"},
	{"set lost", document.EntryMissing, [][]string{{"DEL", "user:index:city:riyadh"}}, "user:456 (user:index:city:riyadh)"},
	{"not in a relation", document.EntryMissing, [][]string{{"SREM", "role:1:permissions", "2"}}, "role:1 (role:1:permissions)"},
	{"not in the list", document.ListMissing, [][]string{{"SREM", "permission:list", "2"}}, "permission:2 (permission:list)"},
	{"counter lost", document.CounterLow, [][]string{{"DEL", "user:counter"}}, "user:456 (user:counter)"},
	{"counter set back", document.CounterLow, [][]string{{"SET", "dish:counter", "789"}}, "dish:790 (dish:counter)"},
	{"counter that is not a number", document.CounterLow, [][]string{{"SET", "orderDetail:counter", "two"}}, "orderDetail:2 (orderDetail:counter)"},
	{"document without a row", document.OrphanDocument, [][]string{{"SET", "user:999", `{"id":"999","version":1}`}}, "user:999 (user:999)"},
	{"memo without a row", document.OrphanMemo, [][]string{{"SET", "memo:{user:999}", "1\nemail=x@example.com"}}, "user:999 (memo:{user:999})"},
	{
		"unique index without a row", document.OrphanEntry, [][]string{{"SET", "user:index:email:x@example.com", "999"}},
		"user:999 (user:index:email:x@example.com)",
	},
	{
		"unique index of another value", document.OrphanEntry, [][]string{{"SET", "user:index:email:x@example.com", "456"}},
		"user:456 (user:index:email:x@example.com)",
	},
	{"in a set without a row", document.OrphanEntry, [][]string{{"SADD", "user:index:city:riyadh", "999"}}, "user:999 (user:index:city:riyadh)"},
	{"in a set of another value", document.OrphanEntry, [][]string{{"SADD", "user:index:city:hue", "456"}}, "user:456 (user:index:city:hue)"},
	{"in the set of one value", document.OrphanEntry, [][]string{{"SADD", "user:index:registered:no", "999"}}, "user:999 (user:index:registered:no)"},
	{"on no menu", document.OrphanEntry, [][]string{{"SADD", "dish:index:menu:yes", "790"}}, "dish:790 (dish:index:menu:yes)"},
	{"on a menu and not listed", document.EntryMissing, [][]string{{"SREM", "dish:index:menu:yes", "789"}}, "dish:789 (dish:index:menu:yes)"},
	{"in a relation", document.OrphanEntry, [][]string{{"SADD", "role:1:permissions", "9"}}, "role:1 (role:1:permissions)"},
	{"of another type", document.UnknownKey, [][]string{{"SET", "user:index:city:nowhere", "456"}}, "user: (user:index:city:nowhere)"},
	{"in the list without a row", document.OrphanList, [][]string{{"SADD", "category:list", "99"}}, "category:99 (category:list)"},
}

// Each kind of difference is detected as exactly that kind, and a rebuild repairs it.
func TestVerify_finds(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		r.wantClean(t)
		kinds := map[string]bool{}
		for _, p := range planted {
			t.Run(p.name, func(t *testing.T) {
				kinds[p.kind] = true
				sendRaw(t, r, p.cmds...)
				v := r.verify(t)
				if d := cmp.Diff(map[string]int{p.kind: 1}, v.Found); d != "" || v.Clean {
					t.Errorf("clean %v, differences (-want +got):\n%s", v.Clean, d)
				}
				testenv.Equal(t, []string{p.kind + ": " + p.want}, v.Samples[p.kind])
				testenv.NoError(t, r.builder().Build(t.Context()))
				r.wantClean(t)
			})
		}
		if len(kinds) != 12 {
			t.Errorf("planted %d kinds: %v", len(kinds), kinds)
		}
	})
}

// Expected keys are not differences: a deleted document's memo, a counter that is ahead, and other packages' keys.
func TestVerify_ignores_expected_keys(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		testenv.NoError(t, r.data.DeleteCart(t.Context(), 123))
		r.project(t)
		if valueOf(t, r.store, "memo:{cart:123}") == "" {
			t.Error("no tombstone")
		}
		sendRaw(t, r, []string{"SET", "cart:counter", "1000"})
		r.wantClean(t)
	})
}

// A change that is pending during a verification is not a difference either.
func TestVerify_rechecks(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		testenv.NoError(t, r.data.DeleteCart(t.Context(), 123),
			r.data.PutUser(t.Context(), documenttest.User{ID: 456, Email: "later@example.com", Role: 1, City: "Hue"}))
		looks := 0
		v := &document.Verifier{Source: r.sql, Mirror: r.store, Pause: func(ctx context.Context) error {
			if looks++; looks < 2 {
				return nil
			}
			return r.projector.RunOnce(ctx)
		}}
		found := testenv.Must(v.Verify(t.Context()))(t)
		if !found.Clean || looks != 2 {
			t.Errorf("after %d looks: %v", looks, found.Samples)
		}
	})
}

// Keys of another type than declared, written by another program, are reported. They stop neither a projection nor a
// rebuild.
func TestVerify_wrong_types(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		for key, cmd := range map[string][]string{
			"user:456":          {"SADD", "user:456", "x"},
			"memo:{user:456}":   {"SADD", "memo:{user:456}", "x"},
			"user:list":         {"SET", "user:list", "x"},
			"user:counter":      {"SADD", "user:counter", "x"},
			"user:index:email":  {"SADD", "user:index:email:user@example.com", "456"},
			"user:index:city":   {"SET", "user:index:city:riyadh", "456"},
			"a stranger's set":  {"SADD", "user:index:email:stranger@example.com", "456"},
			"a stranger's text": {"SET", "user:index:city:nowhere", "456"},
			"relation":          {"SET", "role:1:permissions", "1"},
			"orphan":            {"SADD", "user:999", "x"},
		} {
			t.Run(key, func(t *testing.T) {
				plant := func() { sendRaw(t, r, []string{"DEL", cmd[1]}, cmd) }
				plant()
				if v := r.verify(t); v.Clean {
					t.Error("not found")
				}
				r.projector.Touch(document.Ref{Entity: document.User, ID: "456"}, document.Ref{Entity: document.Role, ID: "1"})
				r.project(t)
				plant()
				testenv.NoError(t, r.builder().Build(t.Context()))
				r.wantClean(t)
			})
		}
	})
}

func TestStore_Verified(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		if v, ok, err := r.store.LastVerified(t.Context()); ok || err != nil {
			t.Errorf("before the first comparison: %+v, %v", v, err)
		}
		want := document.Verified{At: time.Date(2026, 11, 26, 4, 0, 0, 0, time.UTC), Found: map[string]int{document.Missing: 2}}
		testenv.NoError(t, r.store.SaveVerified(t.Context(), want))
		got, ok, err := r.store.LastVerified(t.Context())
		if !ok || err != nil {
			t.Fatalf("LastVerified: %t, %v", ok, err)
		}
		testenv.Equal(t, want, got)

		claim := func() bool { return testenv.Must(r.store.ClaimVerification(t.Context(), time.Hour))(t) }
		if !claim() || claim() {
			t.Error("two processes may compare at the same time")
		}
		testenv.NoError(t, r.store.ReleaseVerification(t.Context()))
		if !claim() {
			t.Error("after a comparison no process may make the next one")
		}
		testenv.NoError(t, r.redis.Do(t.Context(), "SET", keyspace.DocumentsVerified(), "{", "EX", "60").Err())
		if _, ok, err := r.store.LastVerified(t.Context()); ok || err != nil {
			t.Errorf("a damaged result: %t, %v, want none", ok, err)
		}
	})
}

// A paced comparison finds the same, rests between its pages and batches, and ends when it is stopped.
func TestVerify_paced(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		sendRaw(t, r, []string{"DEL", "user:456"}, []string{"SADD", "user:index:city:hue", "456"})
		want := r.verify(t)
		batches, pages := 0, 0
		v := &document.Verifier{
			Source: r.sql, Pause: func(context.Context) error { return nil },
			Mirror: r.store.Paced(func(context.Context) error { pages++; return nil }),
			Pace:   func(context.Context) error { batches++; return nil },
		}
		testenv.Equal(t, want, testenv.Must(v.Verify(t.Context()))(t))
		if batches < len(document.Entities) || pages == 0 {
			t.Errorf("%d batches of %d entities and %d pages were paced", batches, len(document.Entities), pages)
		}
		stopped := errors.New("stopped")
		v.Mirror = r.store.Paced(func(context.Context) error { return stopped })
		testenv.ErrorIs(t, stopped, testenv.Err(v.Verify(t.Context())), "a stopped walk")
		v.Pace = v.Mirror.(pacedMirror).pace
		testenv.ErrorIs(t, stopped, testenv.Err(v.Verify(t.Context())), "a stopped comparison")
	})
}
