package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"comanda/internal/event/rabbit"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
)

// validateAddresses refuses addresses with which no process could start, and names their settings. The packages that use
// the addresses do not know these names. It opens no connection: a service may be down while a process starts.
func (c Config) validateAddresses() error {
	var errs []error
	add := func(name string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	add("COMANDA_LISTEN", checkListen(c.Listen))
	if c.DebugListen != "" {
		add("COMANDA_DEBUG_LISTEN", checkLoopback(c.DebugListen))
	}
	if c.DatabaseURL != "" {
		add("COMANDA_DATABASE_URL", sqldb.CheckURL(c.DatabaseURL))
	}
	add("COMANDA_REDIS_URL", redisdb.Config{URL: c.RedisURL}.Validate())
	if c.RedisListen != "" {
		add("COMANDA_REDIS_LISTEN", checkLoopback(c.RedisListen))
	}
	if c.AMQPURL != "" {
		add("COMANDA_AMQP_URL", rabbit.CheckURL(c.AMQPURL))
	}
	return errors.Join(errs...)
}

// checkListen refuses an address that a process cannot listen on. An empty host is every address of the machine.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	// The error of listening does not show the address. A port may be a name such as http; no network is asked for it.
	if _, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err != nil {
		return fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	return nil
}

// checkLoopback is checkListen for a service without a password.
func checkLoopback(address string) error {
	if err := checkListen(address); err != nil {
		return err
	}
	if host, _, _ := net.SplitHostPort(address); !loopback(host) {
		return fmt.Errorf("%q is not a loopback address", address)
	}
	return nil
}
