package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Service is anything that starts and stops: a Worker, a server, a consumer. Both methods return when the step is
// complete. Stop on a service that is not running does nothing. Start must not wait for work of later services, and
// Stop may be called again after an error.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// Group starts services in the given order and stops them in reverse, so that the dependencies of a service run as long
// as the service. Its lock is held for the whole of Start and Stop, so a Stop during a Start begins when that has
// finished.
type Group struct {
	mu       sync.Mutex
	services []Service
	running  int // services[:running] have been started
}

// NewGroup returns a group of services; Start starts them.
func NewGroup(services ...Service) *Group { return &Group{services: services} }

// rollback limits the stopping of the services after a failed start. It has a limit of its own, because the context of
// a start that was interrupted has ended already.
const rollback = 10 * time.Second

// Start starts all services. If one fails, the services before it are stopped and its error is returned. A group that
// has failed to start may be started again, unless a service could not be stopped.
func (g *Group) Start(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running > 0 {
		return errors.New("worker: the group is already running")
	}
	for _, s := range g.services {
		if err := s.Start(ctx); err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollback)
			defer cancel()
			return errors.Join(err, g.stop(ctx))
		}
		g.running++
	}
	return nil
}

// Stop stops all services, also after one fails, and joins the errors. When ctx ends, the remaining services are still
// told to stop but not waited for; Stop may be called again. A service that has stopped already is called again on a
// repeated Stop, where it does nothing.
func (g *Group) Stop(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stop(ctx)
}

// stop stops the started services in reverse order. The caller holds the lock. running stays as it is after an error,
// so that the next Stop reaches all services again.
func (g *Group) stop(ctx context.Context) error {
	var errs []error
	for _, s := range slices.Backward(g.services[:g.running]) {
		errs = append(errs, s.Stop(ctx))
	}
	err := errors.Join(errs...)
	if err == nil {
		g.running = 0
	}
	return err
}
