// Package stray belongs to nobody in the whole house,
// as gone.go shows.
package stray

import "time"

// For is how long it has been here.
func For(since time.Time) time.Duration { return time.Since(since) }

const text = "it gives %s"
