package stock

import (
	"context"
	"errors"
	"time"
)

// NoCache is the AdmissionCache of a process that has none: it knows no scope, and SQL decides.
type NoCache struct{}

var errNoCache = errors.New("stock: this process has no admission cache")

// Reserve returns Cold.
func (NoCache) Reserve(context.Context, Hold) (AdmissionResult, error) {
	return AdmissionResult{Status: Cold}, nil
}

// Apply applies nothing.
func (NoCache) Apply(_ context.Context, ops []Op) ([]bool, error) {
	return make([]bool, len(ops)), errNoCache
}

// Counts returns an error, so that SQL is read and no rebuild begins.
func (NoCache) Counts(context.Context, Scope, []int64) ([]Count, bool, error) {
	return nil, false, errNoCache
}

// ReadScope returns an error.
func (NoCache) ReadScope(context.Context, Scope) (CachedScope, bool, error) {
	return CachedScope{}, false, errNoCache
}

// BeginRebuild returns an error.
func (NoCache) BeginRebuild(context.Context, Scope) (string, error) { return "", errNoCache }

// Load returns an error.
func (NoCache) Load(context.Context, ScopeSnapshot) error { return errNoCache }

// FinishRebuild returns an error.
func (NoCache) FinishRebuild(context.Context, ScopeSnapshot) error { return errNoCache }

// ExpiredProvisional returns no holds.
func (NoCache) ExpiredProvisional(context.Context, Scope, time.Time, int) ([]Hold, error) {
	return nil, nil
}
