<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>worldpager</name>
    <message>
        <location filename="../../app/audio/devices.py"/>
        <source>the system's</source>
        <translation>the system's</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>no sound: {why}</source>
        <translation>no sound: {why}</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>sound off</source>
        <translation>sound off</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>sound on</source>
        <translation>sound on</translation>
    </message>
    <message>
        <location filename="../../app/audio/part.py"/>
        <source>sound on or off</source>
        <translation>sound on or off</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>record a film</source>
        <translation>record a film</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>recordings</source>
        <translation>recordings</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>save the last seconds</source>
        <translation>save the last seconds</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>screenshot</source>
        <translation>screenshot</translation>
    </message>
    <message>
        <location filename="../../app/capture_actions.py"/>
        <source>screenshot of the picture alone</source>
        <translation>screenshot of the picture alone</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>({n} frames were left out: the encoder fell behind)</source>
        <translation>({n} frames were left out: the encoder fell behind)</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>film saved: {path}</source>
        <translation>film saved: {path}</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>finishing the film</source>
        <translation>finishing the film</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>no film: nothing was played meanwhile</source>
        <translation>no film: nothing was played meanwhile</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>replay</source>
        <translation>replay</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>screenshot saved: {path}</source>
        <translation>screenshot saved: {path}</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>the last {seconds} s saved: {path}</source>
        <translation>the last {seconds} s saved: {path}</translation>
    </message>
    <message>
        <location filename="../../app/capture_commands.py"/>
        <source>the replay buffer is off: see the settings</source>
        <translation>the replay buffer is off: see the settings</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>Ending</source>
        <translation>Ending</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>copy a report</source>
        <translation>copy a report</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>no picture for {seconds} s: the world seems stuck</source>
        <translation>no picture for {seconds} s: the world seems stuck</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>the last run ended unexpectedly: {key} copies a report</source>
        <translation>the last run ended unexpectedly: {key} copies a report</translation>
    </message>
    <message>
        <location filename="../../app/care.py"/>
        <source>the report is in the clipboard; nothing has been sent</source>
        <translation>the report is in the clipboard; nothing has been sent</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Loading the model</source>
        <translation>Loading the model</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Looking at the machine</source>
        <translation>Looking at the machine</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Making room for the memory</source>
        <translation>Making room for the memory</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Opening the world</source>
        <translation>Opening the world</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Ready</source>
        <translation>Ready</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>Starting the engine</source>
        <translation>Starting the engine</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>a drawn world without weights, for tests and trials</source>
        <translation>a drawn world without weights, for tests and trials</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>buffered</source>
        <translation>buffered</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>device</source>
        <translation>device</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>direct I/O</source>
        <translation>direct I/O</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>disk</source>
        <translation>disk</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>generate</source>
        <translation>generate</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>host</source>
        <translation>host</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>place</source>
        <translation>place</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>put</source>
        <translation>put</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>rest</source>
        <translation>rest</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>take</source>
        <translation>take</translation>
    </message>
    <message>
        <location filename="../../app/engine_words.py"/>
        <source>the trained world model that ships with the program</source>
        <translation>the trained world model that ships with the program</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>look down</source>
        <translation>look down</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>look up</source>
        <translation>look up</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>run</source>
        <translation>run</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>turn left</source>
        <translation>turn left</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>turn right</source>
        <translation>turn right</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk back</source>
        <translation>walk back</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk forward</source>
        <translation>walk forward</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk left</source>
        <translation>walk left</translation>
    </message>
    <message>
        <location filename="../../app/input/bindings.py"/>
        <source>walk right</source>
        <translation>walk right</translation>
    </message>
    <message>
        <location filename="../../app/input_feedback.py"/>
        <source>show what the model receives</source>
        <translation>show what the model receives</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>GPU: {name}, {bytes}</source>
        <translation>GPU: {name}, {bytes}</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>How long {model} can play until a tier is full is known once it has been played here.</source>
        <translation>How long {model} can play until a tier is full is known once it has been played here.</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>Not here yet: add a folder with its published files, or run “worldpager models fetch {name}”.</source>
        <translation>Not here yet: add a folder with its published files, or run “worldpager models fetch {name}”.</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>disk: {free} free, {budget} for blocks</source>
        <translation>disk: {free} free, {budget} for blocks</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>main memory: {all}</source>
        <translation>main memory: {all}</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>no GPU: the processor computes</source>
        <translation>no GPU: the processor computes</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>no disk tier: what main memory can't hold is not remembered</source>
        <translation>no disk tier: what main memory can't hold is not remembered</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{bytes} of weights</source>
        <translation>{bytes} of weights</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{minutes} min of new places until blocks go to disk</source>
        <translation>{minutes} min of new places until blocks go to disk</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{minutes} min until the disk tier is full</source>
        <translation>{minutes} min until the disk tier is full</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{model} made {fps} frames a second here last time</source>
        <translation>{model} made {fps} frames a second here last time</translation>
    </message>
    <message>
        <location filename="../../app/machine_words.py"/>
        <source>{summary}; {bytes} of main memory for its blocks</source>
        <translation>{summary}; {bytes} of main memory for its blocks</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>below: on disk</source>
        <translation>below: on disk</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>first</source>
        <translation>first</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>in time</source>
        <translation>in time</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>looks back at</source>
        <translation>looks back at</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>missing</source>
        <translation>missing</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>none: the street never waited for bytes</source>
        <translation>none: the street never waited for bytes</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>now</source>
        <translation>now</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>stale</source>
        <translation>stale</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>stalls</source>
        <translation>stalls</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/chunks_pane.py"/>
        <source>wanted</source>
        <translation>wanted</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>chunk {n}</source>
        <translation>chunk {n}</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>in memory</source>
        <translation>in memory</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>not seen twice yet</source>
        <translation>not seen twice yet</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>spilled</source>
        <translation>spilled</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>the same place</source>
        <translation>the same place</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/compare_pane.py"/>
        <source>{db} dB alike</source>
        <translation>{db} dB alike</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/heads.py"/>
        <source>frames a second</source>
        <translation>frames a second</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/heads.py"/>
        <source>key to picture</source>
        <translation>key to picture</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/heads.py"/>
        <source>world {seed}</source>
        <translation>world {seed}</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>Full system</source>
        <translation>Full system</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>Host only</source>
        <translation>Host only</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>Sliding window</source>
        <translation>Sliding window</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>all tiers, read ahead of time</source>
        <translation>all tiers, read ahead of time</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>keeps what main memory holds</source>
        <translation>keeps what main memory holds</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/modes.py"/>
        <source>sees only the last chunks</source>
        <translation>sees only the last chunks</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>See whether the disk is full.</source>
        <translation>See whether the disk is full.</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>The picture {path} can't be written.</source>
        <translation>The picture {path} can't be written.</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>memory</source>
        <translation>memory</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>save the memory's data</source>
        <translation>save the memory's data</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>saved: {path} (.csv, .json, .png)</source>
        <translation>saved: {path} (.csv, .json, .png)</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/part.py"/>
        <source>the memory, large</source>
        <translation>the memory, large</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>copy above</source>
        <translation>copy above</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>in use</source>
        <translation>in use</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>not yet on disk</source>
        <translation>not yet on disk</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>on disk, too</source>
        <translation>on disk, too</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>only here</source>
        <translation>only here</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>read {read}/s   written {written}/s</source>
        <translation>read {read}/s   written {written}/s</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>ready</source>
        <translation>ready</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>there is no such tier here</source>
        <translation>there is no such tier here</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tier_pane.py"/>
        <source>{used} of {all} blocks</source>
        <translation>{used} of {all} blocks</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Away and straight back: is it still the same?</source>
        <translation>Away and straight back: is it still the same?</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Back to where it began</source>
        <translation>Back to where it began</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Looking around again: does the world remember?</source>
        <translation>Looking around again: does the world remember?</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Looking around, once</source>
        <translation>Looking around, once</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Turning on the spot: main memory fills, old blocks move to disk</source>
        <translation>Turning on the spot: main memory fills, old blocks move to disk</translation>
    </message>
    <message>
        <location filename="../../app/memory_view/tour.py"/>
        <source>Walking off, into land that nobody has seen</source>
        <translation>Walking off, into land that nobody has seen</translation>
    </message>
    <message>
        <location filename="../../app/overlay/chunk_timeline.py"/>
        <source>spill at {chunk}</source>
        <translation>spill at {chunk}</translation>
    </message>
    <message>
        <location filename="../../app/overlay/chunk_timeline.py"/>
        <source>timeline</source>
        <translation>timeline</translation>
    </message>
    <message>
        <location filename="../../app/overlay/input_card.py"/>
        <source>what the model receives</source>
        <translation>what the model receives</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>disk traffic</source>
        <translation>disk traffic</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>full: new ones are not kept</source>
        <translation>full: new ones are not kept</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>full: the least useful go</source>
        <translation>full: the least useful go</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>hits</source>
        <translation>hits</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>longest wait {ms} ms</source>
        <translation>longest wait {ms} ms</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>misses</source>
        <translation>misses</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>no disk tier to spill to</source>
        <translation>no disk tier to spill to</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>one chunk</source>
        <translation>one chunk</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>read</source>
        <translation>read</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>spill</source>
        <translation>spill</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>spills at chunk {chunk}, in {left}</source>
        <translation>spills at chunk {chunk}, in {left}</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>stall over 0.5 ms</source>
        <translation>stall over 0.5 ms</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>stalls over 0.5 ms</source>
        <translation>stalls over 0.5 ms</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>unused</source>
        <translation>unused</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>written</source>
        <translation>written</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{bytes} in all</source>
        <translation>{bytes} in all</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{count} blocks</source>
        <translation>{count} blocks</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{count} blocks spilled to disk</source>
        <translation>{count} blocks spilled to disk</translation>
    </message>
    <message>
        <location filename="../../app/overlay/memory_card.py"/>
        <source>{share} dirty</source>
        <translation>{share} dirty</translation>
    </message>
    <message>
        <location filename="../../app/overlay/pose_map.py"/>
        <source>map</source>
        <translation>map</translation>
    </message>
    <message>
        <location filename="../../app/overlay/pose_map.py"/>
        <source>next</source>
        <translation>next</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>at rest</source>
        <translation>at rest</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>chunk {number}</source>
        <translation>chunk {number}</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>fps</source>
        <translation>fps</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>generated</source>
        <translation>generated</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>no stalls</source>
        <translation>no stalls</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>recorded</source>
        <translation>recorded</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>screen</source>
        <translation>screen</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>shown</source>
        <translation>shown</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>{count} stalls</source>
        <translation>{count} stalls</translation>
    </message>
    <message>
        <location filename="../../app/overlay/status_card.py"/>
        <source>{delay} key to picture</source>
        <translation>{delay} key to picture</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>A, B, X, Y</source>
        <translation>A, B, X, Y</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>gamepad: {name}</source>
        <translation>gamepad: {name}</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>left stick, cross</source>
        <translation>left stick, cross</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>pause, panels, screenshot, memory</source>
        <translation>pause, panels, screenshot, memory</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>right stick, shoulders</source>
        <translation>right stick, shoulders</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>right trigger</source>
        <translation>right trigger</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>start page</source>
        <translation>start page</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>the gamepad is gone</source>
        <translation>the gamepad is gone</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>turn and look</source>
        <translation>turn and look</translation>
    </message>
    <message>
        <location filename="../../app/pad_actions.py"/>
        <source>walk</source>
        <translation>walk</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>, you are here</source>
        <translation>, you are here</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>A scratch world: it goes when you leave it.</source>
        <translation>A scratch world: it goes when you leave it.</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Back to play</source>
        <translation>Back to play</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Bookmarks</source>
        <translation>Bookmarks</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Branches</source>
        <translation>Branches</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Branches and bookmarks</source>
        <translation>Branches and bookmarks</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Delete</source>
        <translation>Delete</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>For good?</source>
        <translation>For good?</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Go there</source>
        <translation>Go there</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Go to chunk {number}</source>
        <translation>Go to chunk {number}</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Keep this world</source>
        <translation>Keep this world</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Kept in {folder}, {size}.</source>
        <translation>Kept in {folder}, {size}.</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Name of branch {name}</source>
        <translation>Name of branch {name}</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>None yet. Ctrl+B marks the place where you stand.</source>
        <translation>None yet. Ctrl+B marks the place where you stand.</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Remove bookmark {name}</source>
        <translation>Remove bookmark {name}</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>Stand at {name} again</source>
        <translation>Stand at {name} again</translation>
    </message>
    <message>
        <location filename="../../app/panels/branches_panel.py"/>
        <source>{count} chunks</source>
        <translation>{count} chunks</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>Close</source>
        <translation>Close</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>Copy</source>
        <translation>Copy</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>Counters</source>
        <translation>Counters</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>blocks</source>
        <translation>blocks</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>chunk</source>
        <translation>chunk</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>days until a drive for 600 TB is used up</source>
        <translation>days until a drive for 600 TB is used up</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>failed moves</source>
        <translation>failed moves</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>generated frames a second</source>
        <translation>generated frames a second</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>given up for newer blocks</source>
        <translation>given up for newer blocks</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>longest wait</source>
        <translation>longest wait</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>model</source>
        <translation>model</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>natural frames a second</source>
        <translation>natural frames a second</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>not kept for want of room</source>
        <translation>not kept for want of room</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>recorded frames a second</source>
        <translation>recorded frames a second</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>screen refreshes a second</source>
        <translation>screen refreshes a second</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>shown frames a second</source>
        <translation>shown frames a second</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>world</source>
        <translation>world</translation>
    </message>
    <message>
        <location filename="../../app/panels/counters_panel.py"/>
        <source>written a minute of the world</source>
        <translation>written a minute of the world</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Back</source>
        <translation>Back</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Make a clip</source>
        <translation>Make a clip</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Nothing is recorded yet: F9 films, F8 saves the last seconds. They go to {folder}.</source>
        <translation>Nothing is recorded yet: F9 films, F8 saves the last seconds. They go to {folder}.</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Play</source>
        <translation>Play</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Really delete</source>
        <translation>Really delete</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Recordings</source>
        <translation>Recordings</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Rename</source>
        <translation>Rename</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Show in folder</source>
        <translation>Show in folder</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>Stop</source>
        <translation>Stop</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>System's player</source>
        <translation>System's player</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>clip saved: {path}</source>
        <translation>clip saved: {path}</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>making a clip</source>
        <translation>making a clip</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>new name</source>
        <translation>new name</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>{name} is deleted</source>
        <translation>{name} is deleted</translation>
    </message>
    <message>
        <location filename="../../app/panels/films_panel.py"/>
        <source>{name} lies in the trash</source>
        <translation>{name} lies in the trash</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source> (through the system's cache)</source>
        <translation> (through the system's cache)</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>Choose …</source>
        <translation>Choose …</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>Measure</source>
        <translation>Measure</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>The usual one</source>
        <translation>The usual one</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>measuring …</source>
        <translation>measuring …</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>writes {write}/s, reads {read}/s</source>
        <translation>writes {write}/s, reads {read}/s</translation>
    </message>
    <message>
        <location filename="../../app/panels/folder_row.py"/>
        <source>{free} free</source>
        <translation>{free} free</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>all keys</source>
        <translation>all keys</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>another world</source>
        <translation>another world</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>drive</source>
        <translation>drive</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>jump</source>
        <translation>jump</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>look</source>
        <translation>look</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>mouse</source>
        <translation>mouse</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>panels</source>
        <translation>panels</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>pause</source>
        <translation>pause</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>slide</source>
        <translation>slide</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>steer</source>
        <translation>steer</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>step aside</source>
        <translation>step aside</translation>
    </message>
    <message>
        <location filename="../../app/panels/key_hint.py"/>
        <source>turn</source>
        <translation>turn</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>All keys to defaults</source>
        <translation>All keys to defaults</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>KEEP</source>
        <translation>KEEP</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>MOVE</source>
        <translation>MOVE</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>PLAY</source>
        <translation>PLAY</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>Press a button, then the key you want. Backspace takes the keys away. The mouse looks as well.</source>
        <translation>Press a button, then the key you want. Backspace takes the keys away. The mouse looks as well.</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>Press the key for “{what}”. Esc leaves it as it is.</source>
        <translation>Press the key for “{what}”. Esc leaves it as it is.</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>That key can't be used. Press another one.</source>
        <translation>That key can't be used. Press another one.</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>VIEW</source>
        <translation>VIEW</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>WINDOW</source>
        <translation>WINDOW</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>no key</source>
        <translation>no key</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>press a key …</source>
        <translation>press a key …</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>{key} always means “{what}”. Press another key.</source>
        <translation>{key} always means “{what}”. Press another key.</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>“{what}” has no key now.</source>
        <translation>“{what}” has no key now.</translation>
    </message>
    <message>
        <location filename="../../app/panels/keys_page.py"/>
        <source>⚠ {key} already means “{what}”. Press it again to take it from there, or another key.</source>
        <translation>⚠ {key} already means “{what}”. Press it again to take it from there, or another key.</translation>
    </message>
    <message>
        <location filename="../../app/panels/loading_page.py"/>
        <source>Cancel</source>
        <translation>Cancel</translation>
    </message>
    <message>
        <location filename="../../app/panels/loading_page.py"/>
        <source>Starting</source>
        <translation>Starting</translation>
    </message>
    <message>
        <location filename="../../app/panels/loading_page.py"/>
        <source>worlds that remember</source>
        <translation>worlds that remember</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Copy report</source>
        <translation>Copy report</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Quit</source>
        <translation>Quit</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Something went wrong</source>
        <translation>Something went wrong</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Start page</source>
        <translation>Start page</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>That can't be used</source>
        <translation>That can't be used</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The memory can't be made</source>
        <translation>The memory can't be made</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The model can't be loaded</source>
        <translation>The model can't be loaded</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The picture can't be drawn</source>
        <translation>The picture can't be drawn</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The recording failed</source>
        <translation>The recording failed</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>The world has stopped</source>
        <translation>The world has stopped</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>There is not enough memory</source>
        <translation>There is not enough memory</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>This failure is called {name} in the log and in the report.</source>
        <translation>This failure is called {name} in the log and in the report.</translation>
    </message>
    <message>
        <location filename="../../app/panels/message_panel.py"/>
        <source>Try again</source>
        <translation>Try again</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Begin</source>
        <translation>Begin</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Every number is a place of its own. The same number opens the same place again.</source>
        <translation>Every number is a place of its own. The same number opens the same place again.</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>New world</source>
        <translation>New world</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Surprise me</source>
        <translation>Surprise me</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>Write a whole number from 0 to {most}.</source>
        <translation>Write a whole number from 0 to {most}.</translation>
    </message>
    <message>
        <location filename="../../app/panels/new_world_panel.py"/>
        <source>world number</source>
        <translation>world number</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>All to defaults</source>
        <translation>All to defaults</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Comfort</source>
        <translation>Comfort</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Done</source>
        <translation>Done</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Keys</source>
        <translation>Keys</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Keys and settings</source>
        <translation>Keys and settings</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Mouse and gamepad</source>
        <translation>Mouse and gamepad</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Picture</source>
        <translation>Picture</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Recording</source>
        <translation>Recording</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>Sound</source>
        <translation>Sound</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>These settings lie in {path}.</source>
        <translation>These settings lie in {path}.</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_panel.py"/>
        <source>World and memory</source>
        <translation>World and memory</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>at once</source>
        <translation>at once</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>from the next start on</source>
        <translation>from the next start on</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>from the next world on</source>
        <translation>from the next world on</translation>
    </message>
    <message>
        <location filename="../../app/panels/settings_rows.py"/>
        <source>set by {origin} for this run</source>
        <translation>set by {origin} for this run</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>A picture to begin with</source>
        <translation>A picture to begin with</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>A world that you keep while you play waits here.</source>
        <translation>A world that you keep while you play waits here.</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Add a model …</source>
        <translation>Add a model …</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Films and screenshots that you make are listed here.</source>
        <translation>Films and screenshots that you make are listed here.</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>KEPT WORLDS</source>
        <translation>KEPT WORLDS</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>NEW WORLD</source>
        <translation>NEW WORLD</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Open</source>
        <translation>Open</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Other worlds</source>
        <translation>Other worlds</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>RECENT RECORDINGS</source>
        <translation>RECENT RECORDINGS</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Settings</source>
        <translation>Settings</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>THIS MACHINE</source>
        <translation>THIS MACHINE</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>The picture can't be kept: {reason}.</source>
        <translation>The picture can't be kept: {reason}.</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>There is no picture in the clipboard.</source>
        <translation>There is no picture in the clipboard.</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>Your own picture …</source>
        <translation>Your own picture …</translation>
    </message>
    <message>
        <location filename="../../app/panels/start_page.py"/>
        <source>open</source>
        <translation>open</translation>
    </message>
    <message>
        <location filename="../../app/panels/timeline_strip.py"/>
        <source>Timeline</source>
        <translation>Timeline</translation>
    </message>
    <message>
        <location filename="../../app/panels/timeline_strip.py"/>
        <source>chunk {number} of {all}</source>
        <translation>chunk {number} of {all}</translation>
    </message>
    <message>
        <location filename="../../app/panels/timeline_strip.py"/>
        <source>walk on from here: a new branch begins  ·  Esc closes</source>
        <translation>walk on from here: a new branch begins  ·  Esc closes</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>Keep it</source>
        <translation>Keep it</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>Name of the world</source>
        <translation>Name of the world</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>Not now</source>
        <translation>Not now</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>There is a world of this name already.</source>
        <translation>There is a world of this name already.</translation>
    </message>
    <message>
        <location filename="../../app/panels/worlds_panel.py"/>
        <source>What you have played so far and all that follows stays, with its memory, in {folder}.</source>
        <translation>What you have played so far and all that follows stays, with its memory, in {folder}.</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>all counters as text</source>
        <translation>all counters as text</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>all settings</source>
        <translation>all settings</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>all settings are at their defaults</source>
        <translation>all settings are at their defaults</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>fill the window or show all</source>
        <translation>fill the window or show all</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>full screen</source>
        <translation>full screen</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>let the mouse go, leave full screen, start page</source>
        <translation>let the mouse go, leave full screen, start page</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>memory off: what leaves the picture is forgotten</source>
        <translation>memory off: what leaves the picture is forgotten</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>memory on or off</source>
        <translation>memory on or off</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>memory on: the world comes back</source>
        <translation>memory on: the world comes back</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>opening world {seed}</source>
        <translation>opening world {seed}</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>panels: none, small, full</source>
        <translation>panels: none, small, full</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>quit</source>
        <translation>quit</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>start this world again</source>
        <translation>start this world again</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>there is only one screen</source>
        <translation>there is only one screen</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>this world begins again, with an empty memory</source>
        <translation>this world begins again, with an empty memory</translation>
    </message>
    <message>
        <location filename="../../app/play_actions.py"/>
        <source>to the next screen</source>
        <translation>to the next screen</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>Play on</source>
        <translation>Play on</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>What is made from now on follows this text. A text that is new to this machine is encoded first.</source>
        <translation>What is made from now on follows this text. A text that is new to this machine is encoded first.</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>a new prompt</source>
        <translation>a new prompt</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>another prompt</source>
        <translation>another prompt</translation>
    </message>
    <message>
        <location filename="../../app/prompt_actions.py"/>
        <source>prompt</source>
        <translation>prompt</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>A note for each block that comes back, a tick for one that spills, a buzz for a stall.</source>
        <translation>A note for each block that comes back, a tick for one that spills, a buzz for a stall.</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>Off, a fast machine runs the world faster than it should.</source>
        <translation>Off, a fast machine runs the world faster than it should.</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>The last seconds, kept encoded in main memory; a key saves them as a film.</source>
        <translation>The last seconds, kept encoded in main memory; a key saves them as a film.</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>Where the system can't hold the pointer (Wayland), dragging is used.</source>
        <translation>Where the system can't hold the pointer (Wayland), dragging is used.</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>Without a device, or without PortAudio, everything stays silent.</source>
        <translation>Without a device, or without PortAudio, everything stays silent.</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>a window without a border</source>
        <translation>a window without a border</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>as long as play took</source>
        <translation>as long as play took</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>automatic</source>
        <translation>automatic</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>begin at the start page</source>
        <translation>begin at the start page</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>chosen for the model</source>
        <translation>chosen for the model</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>click to hold</source>
        <translation>click to hold</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>disk for blocks</source>
        <translation>disk for blocks</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>drag</source>
        <translation>drag</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>drawn by</source>
        <translation>drawn by</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>enlarging</source>
        <translation>enlarging</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>fills the window</source>
        <translation>fills the window</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>films show</source>
        <translation>films show</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of films</source>
        <translation>folder of films</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of saved worlds</source>
        <translation>folder of saved worlds</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of screenshots</source>
        <translation>folder of screenshots</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>folder of the disk tier</source>
        <translation>folder of the disk tier</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>full</source>
        <translation>full</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>full screen is</source>
        <translation>full screen is</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>hear the memory</source>
        <translation>hear the memory</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>high contrast</source>
        <translation>high contrast</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>hold the world to its natural speed</source>
        <translation>hold the world to its natural speed</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>keys</source>
        <translation>keys</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>keys only</source>
        <translation>keys only</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>language</source>
        <translation>language</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>less movement on the screen</source>
        <translation>less movement on the screen</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>looking with the mouse</source>
        <translation>looking with the mouse</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>main memory for blocks</source>
        <translation>main memory for blocks</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>mouse sensitivity</source>
        <translation>mouse sensitivity</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>mouse: up and down the other way round</source>
        <translation>mouse: up and down the other way round</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>no sound</source>
        <translation>no sound</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>none</source>
        <translation>none</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>off</source>
        <translation>off</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>picture</source>
        <translation>picture</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>replay buffer</source>
        <translation>replay buffer</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>say so when the world seems stuck</source>
        <translation>say so when the world seems stuck</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>sharp (cubic)</source>
        <translation>sharp (cubic)</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>shown whole</source>
        <translation>shown whole</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>single pixels</source>
        <translation>single pixels</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>size of text and panels</source>
        <translation>size of text and panels</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>small</source>
        <translation>small</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>soft (linear)</source>
        <translation>soft (linear)</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>software</source>
        <translation>software</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>sound in films</source>
        <translation>sound in films</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>steps</source>
        <translation>steps</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>stick dead zone</source>
        <translation>stick dead zone</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>stick speed</source>
        <translation>stick speed</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>stick: up and down the other way round</source>
        <translation>stick: up and down the other way round</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>the picture alone</source>
        <translation>the picture alone</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>the window with its panels</source>
        <translation>the window with its panels</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>the world's: every frame once</source>
        <translation>the world's: every frame once</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>time in films</source>
        <translation>time in films</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>use a gamepad</source>
        <translation>use a gamepad</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>volume</source>
        <translation>volume</translation>
    </message>
    <message>
        <location filename="../../app/settings.py"/>
        <source>wind and chord</source>
        <translation>wind and chord</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>Back to world {seed}</source>
        <translation>Back to world {seed}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>Folder with the published files of a model</source>
        <translation>Folder with the published files of a model</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>Nothing else was changed.</source>
        <translation>Nothing else was changed.</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>added: {names}</source>
        <translation>added: {names}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>can't be opened: {why}</source>
        <translation>can't be opened: {why}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>reading {folder}</source>
        <translation>reading {folder}</translation>
    </message>
    <message>
        <location filename="../../app/start_actions.py"/>
        <source>{model}, {minutes} min, {size}</source>
        <translation>{model}, {minutes} min, {size}</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>click to look with the mouse</source>
        <translation>click to look with the mouse</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>drag to look around</source>
        <translation>drag to look around</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>looking around to fill the memory</source>
        <translation>looking around to fill the memory</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>memory off</source>
        <translation>memory off</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>paused</source>
        <translation>paused</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>random weights: a trial of the machine, not a world</source>
        <translation>random weights: a trial of the machine, not a world</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>recording  {minutes}:{seconds}</source>
        <translation>recording  {minutes}:{seconds}</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>speed not held</source>
        <translation>speed not held</translation>
    </message>
    <message>
        <location filename="../../app/state_chips.py"/>
        <source>{n} frames left out</source>
        <translation>{n} frames left out</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>back in time (hold)</source>
        <translation>back in time (hold)</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>bookmark: {name}  ·  B shows all</source>
        <translation>bookmark: {name}  ·  B shows all</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>branches and bookmarks</source>
        <translation>branches and bookmarks</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>keep this world</source>
        <translation>keep this world</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>kept already: {folder}, {size}</source>
        <translation>kept already: {folder}, {size}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>kept as {name}</source>
        <translation>kept as {name}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>mark this place</source>
        <translation>mark this place</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>place {number}</source>
        <translation>place {number}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>recalled: chunk {number}</source>
        <translation>recalled: chunk {number}</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>this is the beginning of the world</source>
        <translation>this is the beginning of the world</translation>
    </message>
    <message>
        <location filename="../../app/world_actions.py"/>
        <source>this world is kept: {folder}</source>
        <translation>this world is kept: {folder}</translation>
    </message>
</context>
</TS>
