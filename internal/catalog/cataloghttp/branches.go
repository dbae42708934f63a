package cataloghttp

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

func (s *staff) registerBranches(a *httpapi.API) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: "staff-branch-" + id, Method: method, Path: "/api/branches/{id}" + path, Tags: []string{"Branches"},
			Summary: summary,
		}
	}
	httpapi.Register(a, op("get", http.MethodGet, "", "One branch"), httpapi.Staff, s.branch)
	httpapi.Register(a, op("edit", http.MethodPatch, "", "Changes a branch"), httpapi.Staff, s.editBranch)
	httpapi.Register(a, op("pause", http.MethodPost, "/pause",
		"Pauses a branch; guests see the reason and the end"), httpapi.Staff, s.pause)
	httpapi.Register(a, op("resume", http.MethodPost, "/resume", "Ends a pause"), httpapi.Staff, s.resume)
	httpapi.Register(a, op("availability", http.MethodGet, "/availability",
		"Today's remaining quantities of the menu"), httpapi.Staff, s.availability)
}

// pausedBranch is a pause as the staff see it.
type pausedBranch struct {
	ReasonCode *string       `json:"reasonCode" enum:"BUSY,STAFF,TECHNICAL,EVENT"`
	Reasons    catalog.Texts `json:"reasons" doc:"By locale; empty where there is a code."`
	Since      time.Time     `json:"since"`
	Until      *time.Time    `json:"until" doc:"null: until staff resume."`
	By         string        `json:"by"`
}

// textsOrEmpty returns an empty map for nil, so that JSON has {} and not null.
func textsOrEmpty(t catalog.Texts) catalog.Texts {
	if t == nil {
		return catalog.Texts{}
	}
	return t
}

func pausedOf(p *catalog.Pause) *pausedBranch {
	if p == nil {
		return nil
	}
	out := &pausedBranch{Reasons: textsOrEmpty(p.Texts), Since: p.Since, Until: instant(p.Until), By: p.By}
	if p.Code != "" {
		out.ReasonCode = new(string(p.Code))
	}
	return out
}

// branchResponse wraps a branch as a response.
func (s *staff) branchResponse(b catalog.Branch, err error) (*httpapi.Output[branch], error) {
	return httpapi.Answer(s.branchOf, b, err)
}

func (s *staff) branch(ctx context.Context, in *idIn) (*httpapi.Output[branch], error) {
	return s.branchResponse(s.Branches.Branch(ctx, authz.ActorOf(ctx), in.ID))
}

type branchEditIn struct {
	ID   int64 `path:"id"`
	Body branchEdit
}

// branchEdit is a change to a branch. Omitted fields stay as they are.
type branchEdit struct {
	Name             *string          `json:"name,omitempty" text:"line"`
	Locales          []catalog.Locale `json:"locales,omitempty" text:"exact" maxItems:"10" doc:"The branch's own first."`
	BizDayStartHour  *int             `json:"bizDayStartHour,omitempty" minimum:"0" maximum:"23" doc:"Refused while today would be another day by it."`
	AutoCloseMinutes *int             `json:"autoCloseMinutes,omitempty" minimum:"1" maximum:"1440"`
	IsOpen           *bool            `json:"isOpen,omitempty"`
}

func (s *staff) editBranch(ctx context.Context, in *branchEditIn) (*httpapi.Output[branch], error) {
	e := catalog.BranchEdit{
		Name: in.Body.Name, Locales: in.Body.Locales, DayStart: in.Body.BizDayStartHour, Open: in.Body.IsOpen,
	}
	if n := in.Body.AutoCloseMinutes; n != nil {
		e.AutoClose = new(time.Duration(*n) * time.Minute)
	}
	return s.branchResponse(s.Branches.Edit(ctx, authz.ActorOf(ctx), in.ID, e))
}

type pauseIn struct {
	ID   int64 `path:"id"`
	Body pauseRequest
}

type pauseRequest struct {
	ReasonCode *string       `json:"reasonCode,omitempty" enum:"BUSY,STAFF,TECHNICAL,EVENT" doc:"Phones say it in their language."`
	Reasons    catalog.Texts `json:"reasons,omitempty" text:"lines" doc:"Instead of a code: the reason by locale."`
	Until      *string       `json:"until,omitempty" text:"exact" maxLength:"40" doc:"An instant, END_OF_DAY, or nothing: until staff resume."`
}

func (s *staff) pause(ctx context.Context, in *pauseIn) (*httpapi.Output[branch], error) {
	p := catalog.Pause{Texts: in.Body.Reasons}
	if in.Body.ReasonCode != nil {
		p.Code = catalog.PauseCode(*in.Body.ReasonCode)
	}
	word := catalog.UntilRestored
	if in.Body.Until != nil {
		word = *in.Body.Until
	}
	until, err := catalog.ParseUntil(word)
	if err != nil {
		return nil, err
	}
	return s.branchResponse(s.Branches.Pause(ctx, authz.ActorOf(ctx), in.ID, p, until))
}

func (s *staff) resume(ctx context.Context, in *idIn) (*httpapi.Output[branch], error) {
	return s.branchResponse(s.Branches.Resume(ctx, authz.ActorOf(ctx), in.ID))
}
