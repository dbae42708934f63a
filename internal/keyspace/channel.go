package keyspace

import (
	"fmt"
	"regexp"
	"strings"
)

// Channel is a declared Redis pub/sub channel, or all channels of a declaration with a segment. Redis does not store
// messages: a process that is not subscribed misses them. The zero Channel is invalid.
type Channel struct {
	of      *ChannelDecl
	segment string // in place of the name's segment; anySegment for all channels
}

// anySegment stands for the segment of all channels of a declaration, as in PSUBSCRIBE.
const anySegment = "*"

// ChannelDecl declares a channel. A channel is not a key and stores nothing.
type ChannelDecl struct {
	Name    string // may end with one segment in braces
	Owner   string // the package that publishes and subscribes
	Message string // content of a message
	Purpose string
	Loss    string // effect of a lost message
}

var channels []*ChannelDecl

func declareChannel(d ChannelDecl) Channel {
	channels = append(channels, &d)
	return Channel{of: &d}
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

var notifications = declareChannel(ChannelDecl{
	Name: "app:pub:notification:{userId}", Owner: "live",
	Message: "JSON: from: the sender; to: the same as userId: account 7, visit v..., guest g..., branch b3",
	Purpose: "notifies the bells of a person in other processes; the notices are rows of SQL",
	Loss:    "bells show the notice at their next poll",
})

// Notifications is the channel of the notices of a person or of another group of readers.
func Notifications(userID string) Channel { return Channel{notifications.of, userID} }

// AllNotifications is every channel of Notifications, for a subscription.
func AllNotifications() Channel { return Channel{notifications.of, anySegment} }

// Valid reports whether the channel was declared, and has a segment if its name needs one: lower-case letters and
// digits, at most maxSegment.
func (c Channel) Valid() bool {
	switch {
	case c.of == nil:
		return false
	case !strings.Contains(c.of.Name, "{"):
		return c.segment == ""
	}
	return c.IsPattern() || len(c.segment) <= maxSegment && segmentName.MatchString(c.segment)
}

// maxSegment is the maximum length of a channel's segment, so that names stay below maxLen.
const maxSegment = 29

// IsPattern reports whether the channel stands for all channels of its declaration. Nothing is published on it.
func (c Channel) IsPattern() bool { return c.segment == anySegment }

// String returns the channel's name without a namespace.
func (c Channel) String() string {
	if c.of == nil {
		return ""
	}
	head, _, _ := strings.Cut(c.of.Name, "{")
	return head + c.segment
}

// Channel returns the name of a channel with the namespace, as it is sent.
func (n Namespace) Channel(c Channel) string { return n.Raw(c.String()) }

var segmentName = regexp.MustCompile(`^[0-9a-z]+$`)

// channelName is the form of names: at most one segment, at the end.
var channelName = regexp.MustCompile(`^[^{}]+(\{[a-zA-Z]+\})?$`)

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
		head, _, _ := strings.Cut(c.Name, "{")
		add(!channelName.MatchString(c.Name) || (Decl{}).invalidChars(head) != "", "the name has characters that are not allowed")
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
