package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Service is anything with a life: a Worker, a server, a consumer. Both methods return when the step is done, and Stop
// on a service that is not running does nothing.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// Group is services that live together: started in the order in which they were given, stopped in reverse, so that
// everything finds what it leans on alive.
type Group struct {
	mu       sync.Mutex
	services []Service
	running  int // services[:running] have been started
}

// NewGroup makes a group; nothing runs before Start.
func NewGroup(services ...Service) *Group { return &Group{services: services} }

// rollback bounds the way back of a start that failed halfway.
const rollback = 10 * time.Second

// Start starts all. When one fails, those before it are stopped again and its error is returned.
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

// Stop stops all, also those after one that fails; the errors are joined. ctx bounds the whole: when it has ended, the
// remaining services are told to stop but no longer waited for, and Stop may be called again.
func (g *Group) Stop(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stop(ctx)
}

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
