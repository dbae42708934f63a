package keyspace

import (
	"fmt"
	"strings"
)

// Channel is a declared Redis pub/sub channel. Redis does not store messages: a process that is not subscribed misses
// them. The zero Channel is invalid.
type Channel struct{ of *ChannelDecl }

// ChannelDecl declares a channel. A channel is not a key and stores nothing.
type ChannelDecl struct {
	Name    string
	Owner   string // the package that publishes and subscribes
	Message string // content of a message
	Purpose string
	Loss    string // effect of a lost message
}

var channels []*ChannelDecl

func declareChannel(d ChannelDecl) Channel {
	channels = append(channels, &d)
	return Channel{&d}
}

// Channels returns the declared channels in the order of declaration.
func Channels() []ChannelDecl {
	ds := make([]ChannelDecl, len(channels))
	for i, d := range channels {
		ds[i] = *d
	}
	return ds
}

var wakes = declareChannel(ChannelDecl{
	Name: "app:live:wake", Owner: "live",
	Message: "JSON: from: the sender; changes: per branch (b) ids of orders (o; many: too many to list), left, menu, floor",
	Purpose: "notifies the live streams of other processes of committed changes",
	Loss:    "streams show the change at their next poll",
})

// LiveUpdates is the channel on which processes notify each other's live streams.
func LiveUpdates() Channel { return wakes }

// Valid reports whether the channel was declared.
func (c Channel) Valid() bool { return c.of != nil }

// String returns the channel's name without a namespace.
func (c Channel) String() string {
	if c.of == nil {
		return ""
	}
	return c.of.Name
}

// Channel returns the name of a channel with the namespace, as it is sent.
func (n Namespace) Channel(c Channel) string { return n.Raw(c.String()) }

// LintChannels returns all violations in channel declarations: rules K2 and K3, no two channels of one name, and no
// channel whose name is a possible key.
func LintChannels(cs []ChannelDecl, keys []Decl) []string {
	var found []string
	for i, c := range cs {
		add := func(broken bool, format string, args ...any) {
			if broken {
				found = append(found, c.Name+": "+fmt.Sprintf(format, args...))
			}
		}
		add(c.Name == "" || len(c.Name) > maxLen, "a name has 1 to %d characters", maxLen)
		add(strings.ContainsAny(c.Name, "{}") || (Decl{}).invalidChars(c.Name) != "",
			"the name has characters that are not allowed")
		add(c.Owner == "" || c.Message == "" || c.Purpose == "" || c.Loss == "", "owner, message, purpose or loss is missing")
		for _, other := range cs[:i] {
			add(other.Name == c.Name, "the name is declared twice")
		}
		for _, k := range keys {
			add(overlap(Decl{Pattern: c.Name}.parts(), k.parts()), "a key of %s may have the same name", k.Pattern)
		}
	}
	return found
}
