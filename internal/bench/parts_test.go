package bench

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"comanda/internal/ordering"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// The innermost package of an order's path decides. Background work is one part, whatever it calls.
func TestPartOf(t *testing.T) {
	t.Parallel()
	const serve, commit = "net/http.(*conn).serve", "comanda/internal/sqldb.(*Group[go.shape.struct { comanda/internal/price.Line }]).loop"
	for _, c := range []struct {
		want  string
		stack []string // the innermost first
	}{
		{partHTTP, []string{"internal/runtime/syscall.Syscall6", "syscall.write", "net.(*conn).Write", "net/http.checkConnErrorWriter.Write", serve}},
		{partCodec, []string{"runtime.mallocgc", "encoding/json.(*decodeState).object", "comanda/internal/httpapi.Register.func1", serve}},
		{partIdentity, []string{"comanda/internal/visit.(*Guests).Find", "comanda/internal/ordering.(*Service).Place", serve}},
		{partPrice, []string{"comanda/internal/price.Order", "comanda/internal/ordering.(*Service).Place", serve}},
		{partAdmission, []string{"comanda/internal/stock/stockmemory.(*Cache).Try", "comanda/internal/ordering.(*Service).Place", serve}},
		{partAdmission, []string{"syscall.write", "bufio.(*Writer).Flush", "github.com/redis/rueidis.(*pipe)._backgroundWrite"}},
		{partDecide, []string{"runtime.mapassign", "comanda/internal/ordering.(*Batch).Decide", "comanda/internal/ordering/orderingsql.(*Ledger).Run", commit}},
		{partRows, []string{"comanda/internal/ordering/orderingsql.queueItems", commit}},
		{partRows, []string{"comanda/internal/stock/stocksql.QueueHolds", "comanda/internal/ordering/orderingsql.(*Ledger).Run", commit}},
		{partDriver, []string{"syscall.read", "net.(*conn).Read", "github.com/jackc/pgx/v5/pgconn.(*PgConn).receiveMessage", commit}},
		{partDocuments, []string{"github.com/jackc/pgx/v5.(*Conn).Query", "comanda/internal/document/documentsql.(*Store).Read", "comanda/internal/worker.(*Worker).run"}},
		{partRelay, []string{"encoding/json.Marshal", "comanda/internal/event/outbox.(*Relay).RunOnce", "comanda/internal/worker.(*Worker).run"}},
		{partLoops, []string{"comanda/internal/ordering.(*Service).ExpireOverdue", "comanda/internal/worker.(*Worker).run"}},
		{partLog, []string{"log/slog.(*TextHandler).Handle", "comanda/internal/httpapi.logged", serve}},
		{partGC, []string{"runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"}},
		{partScheduler, []string{"runtime.futex", "runtime.findRunnable", "runtime.schedule", "runtime.mcall"}},
		{partOther, []string{"runtime.sysmon"}},
		{partOther, nil},
	} {
		if got := partOf(c.stack); got != c.want {
			t.Errorf("partOf(%q) = %s, want %s", c.stack, got, c.want)
		}
	}
}

// profileOf returns a CPU profile with a number of samples of 10 ms in each function.
func profileOf(t *testing.T, samples map[string]int64) []byte {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, Period: 1,
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
	}
	for name, n := range samples {
		f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
		l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{n, n * 10_000_000}})
	}
	var text bytes.Buffer
	testenv.NoError(t, p.Write(&text))
	return text.Bytes()
}

// A run of the parts alone measures orders while the server is profiled, and the floor.
func TestRun_parts(t *testing.T) {
	h := open(t, sqldbtest.SQLiteURL(t), "", ordering.Limits{})
	text := profileOf(t, map[string]int64{"net/http.(*conn).serve": 3, "comanda/internal/price.Order": 1})
	debug := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pprof/profile" || r.FormValue("seconds") != "1" {
			t.Errorf("asked for %s", r.URL)
		}
		_, _ = w.Write(text)
	}))
	defer debug.Close()
	base, floor := startFloor(t, sqldbtest.SQLiteURL(t))
	defer func() {
		testenv.NoError(t, floor.Process.Kill())
		_ = floor.Wait() // killed
	}()
	c := h.Config
	c.OnlyParts, c.Debug, c.Floor, c.FloorPID, c.Rounds = true, debug.URL, base, floor.Process.Pid, 2
	r := testenv.Must(Run(t.Context(), c))(t)
	l := r.Parts
	if l == nil || l.Floor <= 0 || len(r.Orders) > 0 || len(l.Parts) != 2 || l.Parts[0].Name != partHTTP || l.Parts[0].Samples != 6 || l.Parts[1].Samples != 2 {
		t.Fatalf("parts = %+v, want HTTP with 6 samples and price with 2", l)
	}
	if l.Orders > 0 && l.Parts[0].Micros != 60_000/float64(l.Orders) {
		t.Errorf("HTTP takes %.1f µs of %d orders", l.Parts[0].Micros, l.Orders)
	}
	if l.Parts[0].FloorMicros <= 0 {
		t.Errorf("parts = %+v, want the floor's HTTP in them", l.Parts)
	}
	if err := l.Exceeds(l); err != nil {
		t.Errorf("a run exceeds itself as budget: %v", err)
	}
	var out strings.Builder
	if r.Text(&out); !strings.Contains(out.String(), "HTTP") || strings.Contains(out.String(), "implied") {
		t.Errorf("the text is\n%s", out.String())
	}
	c.Debug = ""
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("parts without profiles are not an error")
	}
}

// A part may grow by a tenth, and by the uncertainty of its sample.
func TestPartLoad_Exceeds(t *testing.T) {
	t.Parallel()
	budget := &PartLoad{Floor: 50, Sum: 100, Parts: []Part{{Name: partHTTP, Micros: 50, OfFloor: 1, Samples: 10_000}, {Name: partPrice, Micros: 5, OfFloor: 0.1, Samples: 1000}}}
	for _, c := range []struct {
		name  string
		parts []Part
		want  string
	}{
		{"as before", budget.Parts, ""},
		{"a little more", []Part{{Name: partHTTP, Micros: 54, OfFloor: 1.09, Samples: 10_000}}, ""},
		{"faster machine", []Part{{Name: partHTTP, Micros: 20, OfFloor: 1, Samples: 10_000}}, ""},
		{"more", []Part{{Name: partHTTP, Micros: 56, OfFloor: 1.12, Samples: 10_000}, {Name: partPrice, Micros: 5, OfFloor: 0.1, Samples: 1000}}, "HTTP takes 1.12 orders of the floor, its budget is 1.00"},
		{"more, but few samples", []Part{{Name: partHTTP, Micros: 56, OfFloor: 1.12, Samples: 100}}, ""},
		{"new and small", []Part{{Name: partRelay, Micros: 1, OfFloor: 0.02, Samples: 1000}}, ""},
		{"new and large", []Part{{Name: partRelay, Micros: 9, OfFloor: 0.2, Samples: 1000}}, "relay takes 0.20"},
	} {
		err := (&PartLoad{Floor: 50, Parts: c.parts}).Exceeds(budget)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReadBudget(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "budget.json")
	want := Report{At: time.Unix(0, 0), Parts: &PartLoad{Orders: 9, Floor: 50, Sum: 60, Parts: []Part{{Name: partHTTP, Micros: 60, OfFloor: 1.2, Samples: 7}}}}
	text := testenv.Must(json.Marshal(want))(t)
	testenv.NoError(t, os.WriteFile(path, text, 0o600))
	got := testenv.Must(ReadBudget(path))(t)
	if got.Sum != 60 || len(got.Parts) != 1 || got.Parts[0] != want.Parts.Parts[0] {
		t.Errorf("ReadBudget = %+v", got)
	}
	for _, text := range []string{"{", "{}", `{"parts":{"parts":[]}}`} {
		testenv.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := ReadBudget(path); err == nil {
			t.Errorf("%s is a budget", text)
		}
	}
	if _, err := ReadBudget(path + "x"); err == nil {
		t.Error("a missing file is a budget")
	}
}
