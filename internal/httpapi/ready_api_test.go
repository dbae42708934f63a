package httpapi

import (
	"context"
	"io"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/testenv"
)

// The API returns the same readiness as the probe.
func TestAPI_Readiness(t *testing.T) {
	s := testenv.Must(New(Default(), newTestReadiness(io.Discard).log, prometheus.NewRegistry()))(t)
	s.Check("redis", false, func(context.Context) error { return errDown })
	s.Check("sql", true, func(context.Context) error { return nil })
	got := s.API().Readiness(t.Context())
	if got.Status != stateDegraded || got.Checks["redis"].Error != "failed" || got.Checks["sql"].Status != stateOK {
		t.Errorf("Readiness = %+v, want degraded: redis failed, sql ok", got)
	}
	s.ready.drain(true)
	testenv.Equal(t, stateUnavailable, s.API().Readiness(t.Context()).Status)
}
