package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"comanda/internal/limit"
	"comanda/internal/limit/limitredis"
)

// wireLimits creates the rate limiter. COMANDA_LIMITS=off leaves it nil, which allows everything.
func (k *Core) wireLimits(reg prometheus.Registerer) {
	rejected := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "ratelimit_rejected_total", Help: "Requests refused by rate limits, by policy.",
	}, []string{"policy"})
	if !k.Config.Limits {
		return
	}
	for _, p := range limit.Policies() {
		rejected.WithLabelValues(p.Name) // so that an alert finds the series before the first refusal
	}
	k.Limits = &limit.Limiter{
		Local: limit.NewMemory(), Shared: limitredis.New(k.Redis), Now: k.DB.Now,
		Rejected: func(policy string) { rejected.WithLabelValues(policy).Inc() },
	}
}
