package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Service is anything that starts and stops, such as a Worker or a server. Both methods return when their work is
// complete. Stop does nothing if the service is not running. Start must not wait for services that start later, and
// Stop may be called again after an error.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// Group starts services in the given order and stops them in reverse, so that the dependencies of a service run at
// least as long as the service. It holds its lock during all of Start and Stop, so a Stop during a Start waits until
// Start returns.
type Group struct {
	mu       sync.Mutex
	services []Service
	running  int // services[:running] have been started
}

// NewGroup returns a group of services; Start starts them.
func NewGroup(services ...Service) *Group { return &Group{services: services} }

// rollback is the time limit for stopping services after a failed start. It does not depend on ctx, because the
// context of an interrupted start has ended.
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

// Stop stops all services, even if one fails, and joins the errors. When ctx ends, the remaining services are still
// stopped but not waited for; Stop may be called again. A repeated Stop also calls services that have stopped already,
// which then do nothing.
func (g *Group) Stop(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stop(ctx)
}

// stop stops the started services in reverse order. The caller holds the lock. running does not change after an error,
// so that the next Stop calls all services again.
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
