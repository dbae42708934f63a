package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"comanda/internal/event/rabbit"
	"comanda/internal/httpapi"
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
		return fmt.Errorf("%q is not an address with a port, such as 127.0.0.1:8080", address)
	}
	// The error of listening does not show the address. A port may be a name such as http; no network is asked for it.
	if _, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err != nil {
		return fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	return nil
}

// listenError names the setting of an address on which the process cannot listen, and says what to do.
func listenError(setting string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: %w; stop the program that uses it, or set another address", setting, err)
	}
	return fmt.Errorf("%s: %w; set another address", setting, err)
}

// publicServer is the HTTP server as a service whose errors name the setting.
type publicServer struct{ *httpapi.Server }

// Start listens and serves.
func (s publicServer) Start(ctx context.Context) error {
	return listenError("COMANDA_LISTEN", s.Server.Start(ctx))
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
