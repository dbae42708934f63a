package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"comanda/internal/bench/load"
	"comanda/internal/keyspace"
)

// Config says what is measured. Target, Tokens and DatabaseURL are required.
type Config struct {
	Target string   // base URL of the running server, on this machine, started without limits
	PID    int      // the server's process; 0: unknown, and what it takes of the machine is not told
	Tokens []string // QR tokens of a branch with quotas and a sold-out dish, as Seed gives them

	Members []Login // each gets a connection; without any, nothing is asked as a member

	VNPay Site // without a code, no payments are reported

	ServiceToken string // the server's; without it no stock is reserved

	DatabaseURL string             // the server's, with the right to create a schema
	RedisURL    string             // the server's; empty: it has its own store, and so has the raw measurement
	Namespace   keyspace.Namespace // of the server's keys

	// Echo is the base URL of a server of EchoHandler in a process of its own; empty: it runs in this process. It should
	// run where the product does, because one Go runtime schedules client and server cheaper than two.
	Echo string

	Duration time.Duration // of each measurement, after a warm-up of a quarter of it; default 5 s
	Conns    []int         // connections at once; default 64, 128, 256, 512
	Rounds   int           // least number in which checkouts are compared with orders; default 24
	Progress func(step, steps int, name string)
}

// Bounds of a run.
const (
	minDuration = 10 * time.Millisecond
	maxDuration = time.Minute
	maxLoads    = 16
	maxWarmup   = 2 * time.Second
)

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
	if c.Progress == nil {
		c.Progress = func(int, int, string) {}
	}
	return c
}

// Validate tells what is wrong with a configuration. It asks nobody.
func (c Config) Validate() error {
	c = c.withDefaults()
	if _, err := load.ParseTarget(c.Target); err != nil {
		return err
	}
	if _, err := load.ParseTarget(c.Echo); c.Echo != "" && err != nil {
		return err
	}
	switch {
	case len(c.Tokens) == 0 || c.DatabaseURL == "":
		return errors.New("bench: the server's database and QR tokens are needed")
	case c.Duration < minDuration || c.Duration > maxDuration:
		return fmt.Errorf("bench: a measurement takes %s to %s, not %s", minDuration, maxDuration, c.Duration)
	case len(c.Conns) > maxLoads || slices.Min(c.Conns) < 1 || slices.Max(c.Conns) > load.MaxConns:
		return fmt.Errorf("bench: up to %d loads of 1 to %d connections can be measured", maxLoads, load.MaxConns)
	}
	return nil
}

func (c Config) warmup() time.Duration { return min(c.Duration/4, maxWarmup) }
