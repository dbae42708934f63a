package app

import (
	"testing"

	"comanda/internal/testenv"
)

// The waiting time of a branch's first ticket is exported until it is served, and steps are counted by kind.
func TestCore_measuresTheKitchen(t *testing.T) {
	f := newFixture(t)
	m := f.core.Metrics
	measured := func() map[string]float64 {
		t.Helper()
		testenv.NoError(t, f.core.measure(t.Context()))
		return exportedValues(t, m.tickets, m.steps)
	}
	const age = "kitchen_oldest_ticket_age_seconds 1"
	if _, waits := measured()[age]; waits {
		t.Fatal("a ticket waits before the first order")
	}
	f.make("{order}")
	if _, waits := measured()[age]; waits {
		t.Error("a ticket that is not paid waits")
	}
	id := f.make("{paidorder}")
	causeFault(t, f.core.DB, "paid", f.core.DB.Now().UnixMilli()-90_000, id)
	if s := measured()[age]; s < 90 || s > 150 {
		t.Errorf("it has waited for %v seconds", s)
	}
	for _, step := range []string{"start", "start", "ready", "serve"} {
		f.must(f.ask("kitchenA", "POST", "/api/orders/"+id+"/"+step, ""))
	}
	after := measured()
	if _, waits := after[age]; waits {
		t.Error("a served ticket waits")
	}
	for _, kind := range []string{"start", "ready", "serve"} {
		if n := after["kitchen_step_total "+kind]; n != 1 {
			t.Errorf("%s was counted %v times", kind, n)
		}
	}
}
