package worker

import (
	"context"
	"errors"
	"testing"

	"comanda/internal/testenv"
)

// journal records what happens to services.
type journal []string

func (j *journal) service(name string, startErr, stopErr error) Service {
	return &recorded{j: j, name: name, startErr: startErr, stopErr: stopErr}
}

type recorded struct {
	j                 *journal
	name              string
	startErr, stopErr error
}

func (r *recorded) Start(context.Context) error {
	*r.j = append(*r.j, "start "+r.name)
	return r.startErr
}

func (r *recorded) Stop(ctx context.Context) error {
	*r.j = append(*r.j, "stop "+r.name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.stopErr
}

func TestGroup_OrderAndReverse(t *testing.T) {
	var j journal
	g := NewGroup(j.service("sql", nil, nil), j.service("relay", nil, nil), j.service("http", nil, nil))
	ctx := context.Background()
	testenv.NoError(t, g.Start(ctx))
	if g.Start(ctx) == nil {
		t.Error("a second Start is accepted")
	}
	for range 2 {
		testenv.NoError(t, g.Stop(ctx))
	}
	want := journal{"start sql", "start relay", "start http", "stop http", "stop relay", "stop sql"}
	testenv.Equal(t, want, j)
}

func TestGroup_FailedStartGoesBack(t *testing.T) {
	var j journal
	fine := func(name string) Service { return j.service(name, nil, nil) }
	g := NewGroup(fine("a"), fine("b"), j.service("c", errBroken, nil), fine("d"))
	interrupted, cancel := context.WithCancel(context.Background())
	cancel() // the end of the start's context must not interrupt the stop
	if err := g.Start(interrupted); !errors.Is(err, errBroken) || errors.Is(err, context.Canceled) {
		t.Errorf("Start = %v, want errBroken only", err)
	}
	testenv.Equal(t, journal{"start a", "start b", "start c", "stop b", "stop a"}, j)
}

func TestGroup_StopGoesOnAfterAFailure(t *testing.T) {
	var j journal
	other := errors.New("other")
	g := NewGroup(j.service("a", nil, other), j.service("b", nil, errBroken), j.service("c", nil, nil))
	testenv.NoError(t, g.Start(context.Background()))
	j = nil
	if err := g.Stop(context.Background()); !errors.Is(err, errBroken) || !errors.Is(err, other) {
		t.Errorf("Stop = %v, want both failures", err)
	}
	testenv.Equal(t, journal{"stop c", "stop b", "stop a"}, j)
}

func TestGroup_stop_times_out_and_can_be_repeated(t *testing.T) {
	var j journal
	g := NewGroup(j.service("a", nil, nil), j.service("b", nil, nil))
	testenv.NoError(t, g.Start(context.Background()))
	j = nil
	late, cancel := context.WithCancel(context.Background())
	cancel()
	testenv.ErrorIs(t, context.Canceled, g.Stop(late), "Stop without time")
	if err := g.Stop(context.Background()); err != nil {
		t.Errorf("the second Stop = %v", err)
	}
	testenv.Equal(t, journal{"stop b", "stop a", "stop b", "stop a"}, j)
}
