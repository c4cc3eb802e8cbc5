package main

import (
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// A Verdict is the judgement of one model on a history.
type Verdict struct {
	Model      string `json:"model"`
	Partitions int    `json:"partitions"`
	Operations int    `json:"operations"`
	// The calls without an answer.
	OpenEnded int `json:"open_ended"`
	// Partitions that are not linearizable, and partitions that the time was too short to decide.
	Refuted   []Refutation `json:"refuted"`
	Undecided []string     `json:"undecided"`
}

// A Refutation names a partition without a possible order, and the page that shows it.
type Refutation struct {
	Partition string `json:"partition"`
	Page      string `json:"page"`
}

const (
	longest = time.Minute
	atOnce  = 2
)

var models = []struct {
	name         string
	partitionsOf func([]*Record) []partition
}{
	{"keys", keyPartitions},
	{"payments", paymentPartitions},
	{"balances", balancePartitions},
}

// Judges a history by every model. Writes pages of refuted partitions to the folder, if it has a name.
func judge(records []*Record, pages string) ([]Verdict, error) {
	var verdicts []Verdict
	for _, model := range models {
		verdict := Verdict{Model: model.name, Refuted: []Refutation{}, Undecided: []string{}}
		partitions := model.partitionsOf(records)
		results := checkAll(partitions)
		for at, one := range partitions {
			verdict.Partitions++
			verdict.Operations += len(one.operations)
			for _, operation := range one.operations {
				if operation.Return == never {
					verdict.OpenEnded++
				}
			}
			switch results[at] {
			case porcupine.Unknown:
				verdict.Undecided = append(verdict.Undecided, one.name)
			case porcupine.Illegal:
				page, err := draw(one, pages, model.name)
				if err != nil {
					return nil, err
				}
				verdict.Refuted = append(verdict.Refuted, Refutation{one.name, page})
			}
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts, nil
}

func checkAll(partitions []partition) []porcupine.CheckResult {
	results := make([]porcupine.CheckResult, len(partitions))
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for at, one := range partitions {
		all.Add(1)
		go func() {
			defer all.Done()
			places <- struct{}{}
			results[at] = porcupine.CheckOperationsTimeout(one.model.ToModel(), one.operations, longest)
			<-places
		}()
	}
	all.Wait()
	return results
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9-]+`)

func draw(one partition, pages, model string) (string, error) {
	if pages == "" {
		return "", nil
	}
	page := filepath.Join(pages, model+"-"+notInNames.ReplaceAllString(one.name, "-")+".html")
	_, info := porcupine.CheckOperationsVerbose(one.model.ToModel(), one.operations, longest)
	return page, porcupine.VisualizePath(one.model.ToModel(), info, page)
}
