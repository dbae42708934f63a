package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/limit"
	"comanda/internal/limit/limitredis"
	"comanda/internal/telemetry"
)

// wireLimits creates the rate limiter. COMANDA_LIMITS=off leaves it nil, which allows everything.
func (k *Core) wireLimits(reg prometheus.Registerer) {
	var policies []string
	for _, p := range limit.Policies() {
		policies = append(policies, p.Name)
	}
	rejected := telemetry.Metrics(reg).Counting("ratelimit_rejected_total", "Requests refused by rate limits, by policy.",
		"policy", policies...)
	if !k.Config.Limits {
		return
	}
	k.Limits = &limit.Limiter{
		Local: limit.NewMemory(), Shared: limitredis.New(k.Redis), Now: k.DB.Now,
		Rejected: rejected,
	}
}
