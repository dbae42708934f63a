package bench

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/bench/load"
)

func TestConfig_Validate(t *testing.T) {
	good := Config{Target: "http://127.0.0.1:8080", Tokens: []string{"x"}, DatabaseURL: "sqlite:x"}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"no target":                func(c *Config) { c.Target = "" },
		"a server elsewhere":       func(c *Config) { c.Target = "http://192.0.2.1:8080" },
		"an echo server elsewhere": func(c *Config) { c.Echo = "http://192.0.2.1:8080" },
		"a floor elsewhere":        func(c *Config) { c.Floor = "http://192.0.2.1:8080" },
		"no tokens":                func(c *Config) { c.Tokens = nil },
		"no database":              func(c *Config) { c.DatabaseURL = "" },
		"too long":                 func(c *Config) { c.Duration = time.Hour },
		"too short":                func(c *Config) { c.Duration = time.Millisecond },
		"no connections":           func(c *Config) { c.Conns = []int{0} },
		"too many":                 func(c *Config) { c.Conns = []int{load.MaxConns + 1} },
		"too many streams":         func(c *Config) { c.Streams = MaxStreams + 1 },
		"too many loads":           func(c *Config) { c.Conns = make([]int, maxLoads+1) },
	} {
		c := good
		change(&c)
		_, err := Run(t.Context(), c)
		if err == nil || (c.Target != good.Target || c.Echo+c.Floor != "") && !errors.Is(err, load.ErrNotLoopback) {
			t.Errorf("Run with %s = %v, want an error, ErrNotLoopback for an address elsewhere", name, err)
		}
	}
}
