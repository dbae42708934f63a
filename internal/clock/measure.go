package clock

import (
	"context"
	"fmt"
	"time"
)

// Measure reads the authority's time and ends a doubt. It assumes that the reply took half of the round trip, which is
// also the uncertainty. After an error nothing has changed.
func (c *Clock) Measure(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, err := c.sample(ctx)
	if err != nil {
		return err
	}
	old := c.anchor.Load()
	if err := c.follow(ctx, old, next); err != nil {
		return err
	}
	c.logStep(ctx, old, next)
	// The doubt ends after the new anchor is stored, so that callers of Await read the new time.
	c.anchor.Store(next)
	if d := c.doubt.Swap(nil); d != nil {
		close(d.over)
	}
	// A step that followed the sample was compared with the old anchor, and its doubt has just ended. So it is
	// compared again.
	c.compare(next, c.machine())
	return nil
}

// sample returns the most precise of a few readings.
func (c *Clock) sample(ctx context.Context) (*anchor, error) {
	if c.authority == nil {
		now := c.machine()
		return &anchor{at: now.wall, machine: now, measured: true}, nil
	}
	var best *anchor
	for range samples {
		before := c.machine()
		at, err := c.authority(ctx)
		if err != nil {
			return nil, err
		}
		after := c.machine()
		half := (after.mono - before.mono) / 2
		disturbed := (&anchor{machine: before}).wallAhead(after).Abs() >= Step // by a step or a suspension
		if !disturbed && half <= vague && (best == nil || half < best.uncertainty) {
			best = &anchor{at: at.Add(half), machine: after, uncertainty: half, measured: true}
		}
		if best != nil && best.uncertainty <= precise {
			break
		}
	}
	if best == nil {
		return nil, ErrVague
	}
	return best, nil
}

// follow implements C5. If Move fails after it has set the time, follow restores the old time.
func (c *Clock) follow(ctx context.Context, old, next *anchor) error {
	by := old.jump(next)
	if c.authority != nil || c.move == nil || by.Abs() < Step {
		return nil
	}
	if err := c.move(ctx, by, func() { c.anchor.Store(next) }); err != nil {
		c.anchor.Store(old)
		return fmt.Errorf("clock: follow a step of %v: %w", by, err)
	}
	return nil
}

// jump returns the difference between a measurement and the time that the previous anchor derives.
func (a *anchor) jump(next *anchor) time.Duration { return next.at.Sub(a.derive(next.machine)) }

// logStep counts and logs which clock was set according to a measurement, and by how much (C4).
func (c *Clock) logStep(ctx context.Context, old, next *anchor) {
	if !old.measured {
		return
	}
	ahead := old.wallAhead(next.machine)
	jump := old.jump(next)
	// Both measurements have an uncertainty, so a smaller jump proves nothing.
	margin := Step + old.uncertainty + next.uncertainty
	if ahead.Abs() >= Step {
		c.steps.Machine++
		c.log.WarnContext(ctx, "the wall clock of this machine has jumped, and the time was measured", "wall_ahead", ahead,
			"deciding_moved", jump)
	}
	// After a suspension the deciding clock seems to have jumped by the time that the machine has missed. A local
	// server whose clock was set forward looks the same; one whose clock was set back does not.
	missed := c.authority != nil && jump > 0 && (jump-ahead).Abs() < margin
	if jump.Abs() < margin || missed {
		return
	}
	if jump < 0 {
		c.steps.Back++
	} else {
		c.steps.Forward++
	}
	c.log.ErrorContext(ctx, "the deciding clock was set", "by", jump)
}

// State is the state of a clock.
type State struct {
	Steps       Steps
	Reliable    bool
	Offset      time.Duration // how far the deciding clock is ahead of the machine's wall clock
	Uncertainty time.Duration // uncertainty of the last measurement
	Age         time.Duration // since the last measurement
}

// State returns the current state. It may wait for a running measurement, so it is for metrics and diagnosis only.
func (c *Clock) State() State {
	reliable := c.Reliable()
	now, a := c.machine(), c.anchor.Load()
	s := State{
		Reliable: reliable, Offset: a.derive(now).Sub(now.wall), Uncertainty: a.uncertainty, Age: now.mono - a.machine.mono,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Steps = c.steps
	return s
}
