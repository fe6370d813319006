// Uses the client that openapi-generator makes: adds, searches, compares, removes, counts.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"example.org/cento/centoapi"
)

func words(word string) string {
	var text strings.Builder
	for i := 0; i < 60; i++ {
		fmt.Fprintf(&text, "%s%d ", word, i)
	}
	return strings.TrimSpace(text.String())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(holds bool, what string, found any) {
	if !holds {
		log.Fatalf("%s: found %+v", what, found)
	}
}

func main() {
	configuration := centoapi.NewConfiguration()
	configuration.Servers = centoapi.ServerConfigurations{{URL: os.Getenv("CENTO_URL")}}
	client := centoapi.NewAPIClient(configuration)
	background := context.WithValue(
		context.Background(), centoapi.ContextAccessToken, os.Getenv("CENTO_TOKEN"))

	text, other := words("word"), words("other")
	for id, text := range map[string]string{"a/1": text, "b": other} {
		body := centoapi.NewDocumentBody(id, text)
		body.SetMeta(map[string]any{"lang": "en", "year": 2020})
		added, _, err := client.DocumentsAPI.Add(background).DocumentBody(*body).Commit("wait").Execute()
		must(err)
		check(added.GetAdded() == 1 && added.GetCommitted(), "one document is added", added)
	}

	request := centoapi.NewSearchRequest()
	request.SetText(text)
	request.SetPassages(true)
	request.SetFilter("lang:en")
	request.SetLimit(5)
	answer, _, err := client.SearchAPI.Search(background).SearchRequest(*request).Execute()
	must(err)
	hits := answer.GetHits()
	check(len(hits) == 1 && hits[0].GetId() == "a/1", "one hit", hits)
	check(hits[0].GetContainmentOfQuery() == 1, "the whole query is in it", hits[0])
	passages := hits[0].GetPassages()
	check(len(passages) == 1, "one passage", passages)
	place := passages[0].GetQuery()
	check(len(place) == 2 && place[0] == 0 && place[1] == int64(len(text)), "the whole text", place)

	a := centoapi.TextOrIdOneOf1AsTextOrId(centoapi.NewTextOrIdOneOf1("a/1"))
	b := centoapi.TextOrIdOneOfAsTextOrId(centoapi.NewTextOrIdOneOf(text))
	pair := centoapi.NewCompareRequest(a, b)
	pair.SetMeasures([]string{"levenshtein"})
	compared, _, err := client.SearchAPI.Compare(background).CompareRequest(*pair).Execute()
	must(err)
	check(compared.GetResemblance() == 1 && compared.GetA() == "a/1", "they are alike", compared)
	check(compared.GetMeasures()["levenshtein"] == 1, "no edit", compared.GetMeasures())

	stored, _, err := client.DocumentsAPI.Stored(background, "a/1").Execute()
	must(err)
	check(stored.GetText() == text, "the text is stored", stored)

	unknown := centoapi.NewSearchRequest()
	unknown.SetId("nobody")
	_, refused, err := client.SearchAPI.Search(background).SearchRequest(*unknown).Execute()
	check(err != nil && refused.StatusCode == 404, "nobody is not found", refused)

	removal := centoapi.NewRemoveRequest()
	removal.SetIds([]string{"a/1", "c"})
	removed, _, err := client.DocumentsAPI.Remove(background).RemoveRequest(*removal).Commit("wait").Execute()
	must(err)
	check(removed.GetRemoved() == 1 && len(removed.GetMissing()) == 1, "one is removed", removed)

	numbers, _, err := client.StatusAPI.Stats(background).Execute()
	must(err)
	check(numbers.GetDocuments() == 1, "one is left", numbers)
	fmt.Printf("go: cento %s, %d document left\n", numbers.GetVersion(), numbers.GetDocuments())
}
