package app

import (
	"context"
	"log/slog"

	"comanda/internal/event/rabbit"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/system"
	"comanda/internal/telemetry"
)

// Diagnosis is the results of all checks.
type Diagnosis struct {
	Build    telemetry.Build  `json:"build"`
	Settings []Shown          `json:"settings"`
	Findings []system.Finding `json:"findings"`
}

// Healthy reports whether every check passed.
func (d Diagnosis) Healthy() bool {
	for _, f := range d.Findings {
		if !f.OK {
			return false
		}
	}
	return true
}

// Diagnose checks configuration, versions, connections and clocks. It changes nothing. It does not need a running
// server; an embedded Redis is then not checked.
func Diagnose(ctx context.Context, c Config) Diagnosis {
	connections := system.Connections{
		Database: func(ctx context.Context) (*sqldb.DB, error) { return OpenDatabase(ctx, c) },
		Redis:    func(ctx context.Context) (*redisdb.DB, error) { return AttachRedis(ctx, c) },
	}
	if c.AMQPURL != "" {
		broker := c.rabbit(Consumers(nil), slog.New(slog.DiscardHandler), rabbit.NewMetrics(nil))
		connections.Broker = &broker
	}
	return Diagnosis{
		Build: telemetry.ReadBuild(), Settings: c.Redacted(), Findings: system.Diagnose(ctx, connections),
	}
}
