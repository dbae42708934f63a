package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/telemetry"
	"comanda/internal/worker"
)

// clockInterval is the interval of measurements while the clock is not in doubt. Only a measurement detects that a
// virtual machine was paused, because its own clocks do not show it.
const clockInterval = 10 * time.Second

// clockWait is how long a request waits for a measurement. After that, orders are accepted without one.
const clockWait = time.Second

// clockLoop measures the deciding clock. Every process runs it, because processes compare times with each other. It
// also runs while the schema is too new, when all guarded loops rest.
func (k *Core) clockLoop() worker.Loop {
	return worker.Loop{
		Name: "clock", Run: k.DB.Clock().Measure, Every: clockInterval, Timeout: 4 * time.Second, MaxPause: time.Second,
	}
}

// awaitClock returns a function that waits up to clockWait while the time is in doubt: deadlines set meanwhile might be
// wrong.
func awaitClock(c *clock.Clock) func(context.Context) {
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, clockWait)
		defer cancel()
		_ = c.Await(ctx) // on a time-out the request continues with the time at hand
	}
}

// whenSettled wraps a loop that expires something. It skips rounds while the time is not settled; the next round does
// the work.
func whenSettled(c *clock.Clock, l worker.Loop) worker.Loop {
	run := l.Run
	l.Run = func(ctx context.Context) error {
		if !c.Settled() {
			return nil
		}
		return run(ctx)
	}
	return l
}

// exportClock exports the state of the deciding clock. Each gauge reads the clock when it is scraped.
func exportClock(reg prometheus.Registerer, c *clock.Clock) {
	f := telemetry.Metrics(reg)
	steps := func(of, direction string, n func(clock.Steps) int) {
		labels := prometheus.Labels{"clock": of, "direction": direction}
		telemetry.Metrics(prometheus.WrapRegistererWith(labels, reg)).CounterFunc("clock_steps_total",
			"Detected steps of a clock: the machine's or the deciding one.",
			func() float64 { return float64(n(c.State().Steps)) })
	}
	f.GaugeFunc("clock_offset_seconds", "Offset of the deciding clock from this process's.",
		func() float64 { return c.State().Offset.Seconds() })
	f.GaugeFunc("clock_uncertainty_seconds", "Maximum error of the last measurement of the deciding clock.",
		func() float64 { return c.State().Uncertainty.Seconds() })
	f.GaugeFunc("clock_measurement_age_seconds", "Time since the last measurement of the deciding clock.",
		func() float64 { return c.State().Age.Seconds() })
	f.GaugeFunc("clock_settled", "1 while deadlines are enforced by the deciding clock, 0 while it is in doubt.",
		func() float64 { return telemetry.Truth(c.State().Settled) })
	steps("machine", "any", func(s clock.Steps) int { return s.Machine })
	steps("deciding", "forward", func(s clock.Steps) int { return s.Forward })
	steps("deciding", "back", func(s clock.Steps) int { return s.Back })
}
