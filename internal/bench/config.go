package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"comanda/internal/bench/load"
	"comanda/internal/keyspace"
)

// Config describes the measurements. Target, Tokens and DatabaseURL are required. The zero value of a field with a default
// stands for the default.
type Config struct {
	Target string   // base URL of the running server, on this machine, started without limits
	PID    int      // process id of the server; 0: unknown, so its CPU time and memory are not reported
	Tokens []string // QR tokens of a branch with quotas and a sold-out dish, as Seed returns them

	OptionTokens []string // QR tokens of a branch with options, as SeedOptions returns them; if empty, options are not measured

	Members []Login // one connection each; if empty, member requests are not measured

	VNPay Site // without a TmnCode, payment notifications are not measured

	ServiceToken string // the server's; without it reservations are not measured

	DatabaseURL string             // the server's, with the right to create a schema
	RedisURL    string             // the server's; empty: the embedded store, for the raw measurement too
	Namespace   keyspace.Namespace // namespace of the server's keys

	Streams int           // live streams to measure, at most MaxStreams; 0: none
	Idle    time.Duration // time without changes with and without streams; default 30 s, in which every stream polls once

	History *History // the orders that FillHistory has written into the database; nil: none

	// Echo is the base URL of an EchoHandler server in its own process; empty: the server runs in this process. It
	// should run in its own process like the product, because one Go runtime schedules client and server together at a
	// lower cost than two.
	Echo string

	// Floor is the base URL of a ServeFloor process and FloorPID its process id; empty: it runs in this process.
	Floor    string
	FloorPID int

	// OnlyParts measures nothing but the parts of an order. Debug is then the base URL of the server's profiles.
	OnlyParts bool
	Debug     string

	Duration time.Duration // length of each measurement, after a warm-up of a quarter; default 5 s
	Conns    []int         // numbers of connections; default 64, 128, 256, 512
	Rounds   int           // minimum number of rounds that compare checkouts with orders, and maximum of profiles; default 24
	Progress func(step, steps int, name string)
}

// Limits of a run. They keep a mistyped number from occupying a machine for hours: every load is one measurement. After two
// seconds of warm-up all connections, prepared statements and caches are in use.
const (
	minDuration = 10 * time.Millisecond
	maxDuration = time.Minute
	maxLoads    = 16
	maxWarmup   = 2 * time.Second
)

// withDefaults returns a copy with all defaults. The numbers of connections double, which shows where throughput stops
// growing.
func (c Config) withDefaults() Config {
	if c.Duration == 0 {
		c.Duration = 5 * time.Second
	}
	if len(c.Conns) == 0 {
		c.Conns = []int{64, 128, 256, 512}
	}
	if c.Rounds == 0 {
		c.Rounds = leastRounds
	}
	if c.Idle == 0 {
		c.Idle = 30 * time.Second
	}
	if c.Progress == nil {
		c.Progress = func(int, int, string) {}
	}
	return c
}

// Validate returns an error if the configuration is invalid. It makes no connections.
func (c Config) Validate() error {
	c = c.withDefaults()
	if _, err := load.ParseTarget(c.Target); err != nil {
		return err
	}
	if _, err := load.ParseTarget(c.Echo); c.Echo != "" && err != nil {
		return err
	}
	if _, err := load.ParseTarget(c.Floor); c.Floor != "" && err != nil {
		return err
	}
	switch {
	case len(c.Tokens) == 0 || c.DatabaseURL == "":
		return errors.New("bench: the server's database and QR tokens are needed")
	case c.Duration < minDuration || c.Duration > maxDuration:
		return fmt.Errorf("bench: a measurement takes %s to %s, not %s", minDuration, maxDuration, c.Duration)
	case len(c.Conns) > maxLoads || slices.Min(c.Conns) < 1 || slices.Max(c.Conns) > load.MaxConns:
		return fmt.Errorf("bench: up to %d loads of 1 to %d connections can be measured", maxLoads, load.MaxConns)
	case c.Streams < 0 || c.Streams > MaxStreams:
		return fmt.Errorf("bench: 0 to %d live streams can be measured, not %d", MaxStreams, c.Streams)
	}
	return nil
}

// warmup returns the time before each measurement in which nothing is counted.
func (c Config) warmup() time.Duration { return min(c.Duration/4, maxWarmup) }
