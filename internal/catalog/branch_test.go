package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/testenv"
)

func hanoi() Branch {
	return Branch{
		ID: 1, Name: "Hà Nội", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []Locale{Vietnamese, English}, AutoClose: 90 * time.Minute, Open: true,
	}
}

func TestNewBranch(t *testing.T) {
	b := testenv.Must(NewBranch(hanoi()))(t)
	if got := b.Calendar().BizDate(time.Date(2026, 2, 26, 20, 0, 0, 0, time.UTC)); got != "2026-02-26" {
		t.Errorf("at three in the morning the business date is %s", got)
	}
	if !b.Offers(English) || b.Offers(Chinese) {
		t.Errorf("the branch offers %v", b.Locales)
	}
	for name, corrupt := range map[string]func(*Branch){
		"no name":           func(b *Branch) { b.Name = "" },
		"a long name":       func(b *Branch) { b.Name = strings.Repeat("ộ", MaxName+1) },
		"a broken name":     func(b *Branch) { b.Name = "H\xff" },
		"unknown currency":  func(b *Branch) { b.Currency = "XAU" },
		"unknown zone":      func(b *Branch) { b.Timezone = "Asia/Hanoi_City" },
		"impossible hour":   func(b *Branch) { b.DayStart = 24 },
		"no locale":         func(b *Branch) { b.Locales = nil },
		"unknown locale":    func(b *Branch) { b.Locales = []Locale{"tlh"} },
		"closes at once":    func(b *Branch) { b.AutoClose = time.Second },
		"closes never":      func(b *Branch) { b.AutoClose = 25 * time.Hour },
		"this machine zone": func(b *Branch) { b.Timezone = "Local" },
	} {
		bad := hanoi()
		corrupt(&bad)
		if _, err := NewBranch(bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("NewBranch with %s: error %v, want Invalid", name, err)
		}
	}
}

func TestTexts_Check(t *testing.T) {
	testenv.NoError(t, (Texts{Vietnamese: "Phở"}).Check("A dish", 3))
	for name, bad := range map[string]Texts{
		"none":           nil,
		"empty":          {English: ""},
		"too long":       {Vietnamese: "Phở "},
		"unknown locale": {"xx": "Pho"},
		"broken":         {English: "\xff"},
	} {
		if err := bad.Check("A dish", 3); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Check with %s: error %v, want Invalid", name, err)
		}
	}
	want := `A dish has a text in "xx". The supported locales are vi, zh-TW, en, ja, th, de.`
	testenv.Equal(t, want, fault.PublicText(Texts{"xx": "Pho"}.Check("A dish", 3)))
}

func TestEntry_Check(t *testing.T) {
	quota := func(n int64) *int64 { return &n }
	for _, good := range []Entry{{}, {Price: MaxPrice, Quota: quota(MaxQuota)}, {Quota: quota(0)}} {
		if err := good.Check(); err != nil {
			t.Errorf("Check(%+v): %v", good, err)
		}
	}
	for _, bad := range []Entry{{Price: -1}, {Price: MaxPrice + 1}, {Quota: quota(-1)}, {Quota: quota(MaxQuota + 1)}} {
		if err := bad.Check(); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Check(%+v): error %v, want Invalid", bad, err)
		}
	}
}

func TestContent_survives_JSON(t *testing.T) {
	menus := []PublishedMenu{{MenuID: 2, VersionID: 5, Schedule: MenuSchedule{
		Weekly: everyDay("11:00", "14:00"), FromDate: "2026-12-01", Kinds: []OrderKind{PickUp}, Priority: 5,
	}}}
	in := Content{Revision: 7, Menus: menus, Quotas: map[int64]int64{11: 20, 99: 0}, Edition: NewEdition(5, 1,
		[]Category{{ID: 1, Names: Texts{Vietnamese: "Phở"}}},
		[]Item{{
			ID: 11, DishID: 4, CategoryID: 1, Price: 65000, Active: true, Names: Texts{Vietnamese: "Phở bò"},
			Descriptions: Texts{English: "Soup"}, Version: 5, Kinds: []OrderKind{PickUp}, Regular: 70000,
			Declaration: Declaration{Allergens: &Allergens{Contains: []Allergen{Fish}}, Diets: []Diet{Halal}},
		}})}
	text := testenv.Must(json.Marshal(in))(t)
	var out Content
	testenv.NoError(t, json.Unmarshal(text, &out))
	testenv.Equal(t, in, out, cmpopts.IgnoreUnexported(Edition{}))
	if it, ok := out.Edition.Item(11); !ok || it.Price != 65000 {
		t.Errorf("the item is not found by its id: %v, %t", it, ok)
	}
	if _, ok := out.Edition.Item(12); ok {
		t.Error("an unknown item was found")
	}
}

func TestSlugOf(t *testing.T) {
	for name, want := range map[string][2]string{
		"Quán Hoa – Đà Nẵng": {"quan-hoa-da-nang", "quan-hoa-da-nang-2"}, "101": {"branch-101", "branch-101-2"},
		"🍜": {"branch", "branch-2"}, "鼎泰豐": {"鼎泰豐", "鼎泰豐-2"}, "Quán 7": {"quan-7", "quan-7-2"},
	} {
		if got := [2]string{SlugOf(name, 1), SlugOf(name, 2)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
