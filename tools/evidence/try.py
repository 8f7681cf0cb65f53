import json, sys, time
from random_scenarios import random_scenario
from ackclock import _core
import polars
from network import network_of
from reader import *
from collections import Counter
lo,hi=int(sys.argv[1]),int(sys.argv[2])
t=time.time(); C=Counter(); bad=Counter(); L=Counter(); shown=Counter()
for seed in range(lo,hi):
    d=random_scenario(seed)
    s=_core.Scenario.from_json(json.dumps(d))
    plain=_core.Scenario.from_json(json.dumps(d|{"sampling":{"packets":False}}))
    doc=json.loads(plain.run().to_json())
    resolved=json.loads(s.resolved_json())
    counts={f["name"]:f.get("count",1) for f in resolved["flows"] if f["traffic"]["kind"]=="arrivals"}
    net=network_of(json.loads(s.describe_json()),counts)
    try: ans=read(polars.DataFrame(s.run().packets),net,resolved)
    except Exception as e:
        import traceback; traceback.print_exc(limit=-4); print("seed",seed); bad['exc']+=1; continue
    for (table,row,m),a in ans.items():
        if isinstance(a,LeftOut): L[(table,m,a.reason[:20])]+=1; continue
        if table=="summary": v=doc["summary"][m]
        else:
            key={"transfers":"group"}.get(table,"name")
            v=next(x for x in doc[table] if x[key]==row)[m]
        C[(table,m)]+=1
        if (v is None)!=(a.value is None) or v is not None and abs(v-a.value)>a.absolute+a.relative*abs(a.value):
            bad[(table,m)]+=1
            if shown[(table,m)]<2: shown[(table,m)]+=1; print(seed,table,row,m,v,a)
print(time.time()-t, sum(C.values()))
print(bad); print(L)
