package app

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// The daily comparison exports its differences, and operators see when it was. A later comparison by hand ends the alert.
func TestDailyVerifier_in_a_process(t *testing.T) {
	t.Parallel()
	h := newDocumentServer(t)
	core := h.p.core
	reg := prometheus.NewRegistry()
	reg.MustRegister(h.p.registry)
	if counterSum(t, reg, "document_drift") != 0 {
		t.Error("drift before the first comparison")
	}
	h.redis.Say("SET dish:999999 {}")
	testenv.NoError(t, core.Redis.Do(t.Context(), "DEL", keyspace.DocumentsVerified()).Err())
	begun := core.DB.Now().Truncate(time.Millisecond)
	testenv.NoError(t, core.Daily.RunOnce(t.Context()))
	// The loop of measurements reads the result of whichever process compared.
	testenv.Eventually(t, 20*time.Second, func() bool {
		return counterSum(t, reg, "document_drift") > 0 &&
			counterSum(t, reg, "document_verified_timestamp_seconds") >= float64(begun.Unix())
	})
	out := testenv.Must(core.systemService().Outbox(t.Context()))(t)
	if d := out.Documents; d.VerifiedAt == nil || d.VerifiedAt.Before(begun) || d.Differences == 0 {
		t.Errorf("operators see %+v", d)
	}
	h.redis.Say("DEL dish:999999")
	if !h.verified() {
		t.Error("differences are left")
	}
	testenv.Eventually(t, 20*time.Second, func() bool { return counterSum(t, reg, "document_drift") == 0 })

	// It begins when the restaurant is closed: with the first branch's business day.
	now := time.Date(2026, 11, 26, 15, 0, 0, 0, time.UTC)
	branches := testenv.Must(core.Branches.Store.Branches(t.Context()))(t)
	start := testenv.Must(core.quietHour(t.Context(), now))(t)
	testenv.Equal(t, branches[0].Calendar().At(now).Start, start)
	if start.After(now) || now.Sub(start) > 25*time.Hour {
		t.Errorf("quietHour = %v for %v, want the last start of a business day", start, now)
	}
}
