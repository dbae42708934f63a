package keyspace

import (
	"strings"
	"testing"
)

func TestLintChannels_registry(t *testing.T) {
	if len(Channels()) == 0 {
		t.Fatal("no channel is declared")
	}
	for _, problem := range LintChannels(Channels(), Declarations()) {
		t.Error(problem)
	}
}

func TestLintChannels_sees(t *testing.T) {
	good := ChannelDecl{Name: "app:news", Owner: "live", Message: "x", Purpose: "x", Loss: "x"}
	if found := LintChannels([]ChannelDecl{good}, Declarations()); found != nil {
		t.Fatalf("a sound declaration is blamed: %v", found)
	}
	for name, c := range map[string]struct {
		breaks func(*ChannelDecl)
		want   string
	}{
		"no name":         {func(d *ChannelDecl) { d.Name = "" }, "1 to 50 characters"},
		"a long name":     {func(d *ChannelDecl) { d.Name = strings.Repeat("a", 51) }, "1 to 50 characters"},
		"a capital":       {func(d *ChannelDecl) { d.Name = "app:News" }, "not allowed"},
		"a brace":         {func(d *ChannelDecl) { d.Name = "app:{b1}" }, "not allowed"},
		"a segment first": {func(d *ChannelDecl) { d.Name = "app:{user}:news" }, "not allowed"},
		"nobody's":        {func(d *ChannelDecl) { d.Owner = "" }, "owner"},
		"no word of loss": {func(d *ChannelDecl) { d.Loss = "" }, "loss is missing"},
		"named like keys": {func(d *ChannelDecl) { d.Name = "cis:menu:active:v2:7" }, "may have the same name"},
	} {
		d := good
		c.breaks(&d)
		if found := strings.Join(LintChannels([]ChannelDecl{d}, Declarations()), "\n"); !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
	if found := LintChannels([]ChannelDecl{good, good}, nil); len(found) != 1 {
		t.Errorf("one name for two channels: %v", found)
	}
}

// redis-key-naming 001-A17 and 001-B11: the channel of one user, and the pattern of all.
func TestNotifications(t *testing.T) {
	for name, c := range map[string]Channel{"app:pub:notification:7": Notifications("7"), "app:pub:notification:*": AllNotifications()} {
		if c.String() != name || !c.Valid() || c.IsPattern() != strings.HasSuffix(name, "*") {
			t.Errorf("%s is called %q, valid: %t, a pattern: %t", name, c, c.Valid(), c.IsPattern())
		}
	}
	for _, id := range []string{"", "A", "7:8", "?", "[ab]", strings.Repeat("7", 30)} {
		if Notifications(id).Valid() {
			t.Errorf("%q is a valid user id", id)
		}
	}
	if got := Namespace("north").Channel(Notifications("7")); got != "north:app:pub:notification:7" {
		t.Errorf("in a namespace it is called %q", got)
	}
}

func TestNamespace_Channel(t *testing.T) {
	if got := Namespace("north").Channel(LiveUpdates()); got != "north:app:live:wake" {
		t.Errorf("in a namespace it is called %q", got)
	}
	if got := Namespace("").Channel(LiveUpdates()); got != LiveUpdates().String() || !LiveUpdates().Valid() || (Channel{}).Valid() {
		t.Errorf("without one it is called %q", got)
	}
}
