package keyspace

import (
	"fmt"
	"strings"
)

// Channel is a channel of Redis pub/sub that was declared. What is published there is kept nowhere: whoever does not listen
// at that moment never hears it. The zero Channel is invalid.
type Channel struct{ of *ChannelDecl }

// ChannelDecl declares a channel. Channels have names of their own: they are no keys, and nothing can be stored there.
type ChannelDecl struct {
	Name    string
	Owner   string // the room that publishes and listens
	Message string // what a message says
	Purpose string
	Loss    string // what happens when a message is lost
}

var channels []*ChannelDecl

func declareChannel(d ChannelDecl) Channel {
	channels = append(channels, &d)
	return Channel{&d}
}

// Channels lists the channels in the order of declaration.
func Channels() []ChannelDecl {
	ds := make([]ChannelDecl, len(channels))
	for i, d := range channels {
		ds[i] = *d
	}
	return ds
}

var wakes = declareChannel(ChannelDecl{
	Name: "app:live:wake", Owner: "live",
	Message: "JSON: from: the process, changes: per branch b its orders o (ids; many: some), left, menu, floor",
	Purpose: "a process tells the others what it has committed, so that their live streams look at once",
	Loss:    "streams see the change when they look the next time",
})

// Wakes is the channel on which processes wake each other's live streams.
func Wakes() Channel { return wakes }

// Valid tells whether the channel was declared.
func (c Channel) Valid() bool { return c.of != nil }

// String is the channel's name without a namespace.
func (c Channel) String() string {
	if c.of == nil {
		return ""
	}
	return c.of.Name
}

// Channel is the name of a channel as it is sent.
func (n Namespace) Channel(c Channel) string { return n.Raw(c.String()) }

// LintChannels lists what is wrong with declarations of channels, by the rules of keys where these apply: K2 and K3. Two
// channels never have one name, and none is called like a key that could be.
func LintChannels(cs []ChannelDecl, keys []Decl) []string {
	var found []string
	for i, c := range cs {
		add := func(broken bool, format string, args ...any) {
			if broken {
				found = append(found, c.Name+": "+fmt.Sprintf(format, args...))
			}
		}
		add(c.Name == "" || len(c.Name) > maxLen, "a name has 1 to %d characters", maxLen)
		add(strings.ContainsAny(c.Name, "{}") || (Decl{}).strange(c.Name) != "", "the name has characters that are not allowed")
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
