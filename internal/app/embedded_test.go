package app

import (
	"context"
	"testing"
	"time"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

// A process without a Redis keeps no documents: changes are discarded, and everything counts as complete. It keeps them
// once other programs may read its store.
func TestDocuments_not_kept(t *testing.T) {
	db := sqldbtest.SQLite(t)
	k := coreWithGateways(t, db, nil)
	testenv.NoError(t, db.Write(t.Context(), func(_ context.Context, tx sqldb.Tx) error {
		documentsql.Changed(tx, db.Now(), "dish", "1", "2")
		return nil
	}))
	queued := func() int64 {
		b := testenv.Must(k.documentStore.Backlog(t.Context(), db.Now()))(t)
		return b.Pending
	}
	if queued() == 0 || k.keepsDocuments() || len(k.documentLoops()) != 1 {
		t.Fatalf("%d changes are queued, documents are kept: %t", queued(), k.keepsDocuments())
	}
	// An interrupted rebuild must not continue later: the changes that it would need are discarded.
	next := document.GenerationState{Building: "b", Entity: document.ByName("dish"), After: "7", ClaimedUntil: db.Now()}
	if ok, err := k.documentStore.ClaimBuild(t.Context(), testenv.Must(k.documentStore.Generation(t.Context()))(t), next, db.Now()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for range 2 {
		testenv.NoError(t, k.discardChanges(t.Context()))
	}
	if n := queued(); n != 0 || k.checkDocuments(t.Context()) != nil {
		t.Errorf("%d changes are left, %v", n, k.checkDocuments(t.Context()))
	}
	if g := testenv.Must(k.documentStore.Generation(t.Context()))(t); g.Building != "" || g.After != "" || g.Entity != nil {
		t.Errorf("the rebuild may continue: %+v", g)
	}
	x := testenv.Must(k.systemService().Index(t.Context()))(t)
	if !x.Whole || x.Note == "" || x.Verification != nil {
		t.Errorf("Index = %+v, want a whole one with a note and no verification", x)
	}
	if kept, note, err := k.systemService().KeepsDocuments(t.Context()); kept || note == "" || err != nil {
		t.Errorf("a command finds documents: %t, %q, %v", kept, note, err)
	}
	if k := coreWithGateways(t, sqldbtest.SQLite(t), map[string]string{"COMANDA_REDIS_LISTEN": "127.0.0.1:1"}); !k.keepsDocuments() {
		t.Error("a store that other programs read has no documents")
	}
}

// Commands of other processes read the counters of the admission cache from the embedded store. A lost copy is written
// again.
func TestAdmissionCache_copy(t *testing.T) {
	db := sqldbtest.SQLite(t)
	k := coreWithGateways(t, db, nil)
	s := stock.Scope{Branch: 1, Date: db.Now().Format(time.DateOnly)}
	counts := []stock.Count{{Item: 5, Cap: 10, Held: 2, Used: 3}, {Item: 6, Cap: stock.Unlimited}}
	epoch := testenv.Must(k.memory.BeginRebuild(t.Context(), s))(t)
	testenv.NoError(t, k.memory.FinishRebuild(t.Context(), stock.ScopeSnapshot{Scope: s, Epoch: epoch, Ends: db.Now().Add(time.Hour), Counts: counts}))
	want := func(counts ...stock.Count) {
		t.Helper()
		testenv.NoError(t, k.mirrorCounters(t.Context()))
		shown, ok, err := k.mirror.ReadScope(t.Context(), s)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		testenv.Equal(t, counts, shown.Counts)
		if left := shown.ExpiresAt.Sub(db.Now()); left > 13*time.Hour || left < 12*time.Hour {
			t.Errorf("the copy expires in %v", left)
		}
	}
	want(counts...)
	hold := stock.Hold{ID: "06h1aje911tq92je4hnbiitv3c", Scope: s, Lines: []stock.Line{{Item: 5, Qty: 4}}}
	if v := testenv.Must(k.AdmissionCache.Reserve(t.Context(), hold))(t); v.Status != stock.Admitted {
		t.Errorf("Reserve = %+v, want ADMITTED", v)
	}
	counts[0].Held = 6
	want(counts...)
	testenv.Must(k.mirror.BeginRebuild(t.Context(), s))(t)
	want(counts...)
}

// A command beside a server applies nothing: the server does, from redis_outbox.
func TestNoCache(t *testing.T) {
	hold := stock.Hold{ID: "h", Lines: []stock.Line{{Item: 5, Qty: 4}}}
	var none stock.AdmissionCache = stock.NoCache{}
	if v, err := none.Reserve(t.Context(), hold); v.Status != stock.Cold || v.Missing || err != nil {
		t.Errorf("Reserve without a cache = %+v, %v, want COLD", v, err)
	}
	if applied, err := none.Apply(t.Context(), []stock.Op{{Kind: stock.OpHeld, Hold: hold}}); err == nil || applied[0] {
		t.Errorf("applied: %v, %v", applied, err)
	}
}
